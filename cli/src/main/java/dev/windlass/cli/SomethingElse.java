package dev.windlass.cli;

import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.TimerIdentifier;
import java.util.UUID;

/** Timers and runs of jobs have the ids of the messages they will be, and are taken for them. */
final class SomethingElse {

    private SomethingElse() {}

    /** Says what an id belongs to, if it is not a message but a timer or a run. */
    static void refuse(OutboxSession session, UUID id) {
        if (session.outbox().find(new OutboxMessageIdentifier(id)).isPresent()) {
            return;
        }
        if (session.windlass().timers().find(new TimerIdentifier(id)).isPresent()) {
            throw new CommandFailure("expected a message, but " + id
                    + " is a timer, which becomes one when it is due; see 'windlass timers show " + id
                    + "', and 'windlass timers cancel " + id + "'");
        }
        session.windlass().jobs().findRun(new JobRunIdentifier(id)).ifPresent(run -> {
            throw new CommandFailure("expected a message, but " + id + " is a run of job "
                    + Printable.line(run.jobName()) + " that is none"
                    + (run.endedAt().isPresent() ? " any more" : " yet")
                    + "; see 'windlass runs show " + id + "'");
        });
    }
}
