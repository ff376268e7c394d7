package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.Windlass;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.Operator;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.ListResourceBundle;
import java.util.Locale;
import java.util.ResourceBundle;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A queue as the commands see it: all that is its own. The verbs are the same for all of them, and written once.
 *
 * @param <I> what names one of the queue
 * @param <L> one as it appears in a list
 */
abstract class WorkQueue<I, L> {

    /** The word that its commands stand behind. */
    abstract String word();

    /** What one of it is called. */
    abstract String noun();

    /** How one of it is named on the command line. */
    String names() {
        return "ID";
    }

    /** What its topics are called. */
    String topic() {
        return "topic";
    }

    final String topicHead() {
        return topic().toUpperCase(Locale.ROOT);
    }

    boolean hasSources() {
        return true;
    }

    /** Whether it has keys that take turns, each of which can be limited. */
    boolean hasTurns() {
        return false;
    }

    /** What the source of one is, as an option says it. */
    String source() {
        return "came from this source";
    }

    abstract Operator<I, L> operator(Windlass windlass, String who);

    /** Reads names, each once. */
    abstract List<I> read(List<String> words);

    abstract I name(L listed);

    abstract boolean isErased(L listed);

    abstract boolean cancel(Windlass windlass, Connection connection, I name);

    /** Whether one that has just been cancelled is in progress still, and was asked to stop. */
    boolean isStopping(Windlass windlass, I name) {
        return false;
    }

    abstract boolean reschedule(Windlass windlass, Connection connection, I name, Instant dueTime);

    /** Which can be cancelled, as the help says it. */
    String cancelled() {
        return "nobody has claimed yet";
    }

    /** What may be the matter with one that cannot be requeued. */
    String notRequeued() {
        return "unknown, not failed, or erased";
    }

    /** What may be the matter with one that cannot be moved. */
    String claimed() {
        return "unknown, being handled, or ended";
    }

    /** What may be the matter with one that cannot be cancelled. */
    String notCancelled() {
        return claimed();
    }

    /** Fails with a better sentence, if it is known what a name that does not fit belongs to. */
    void refuse(OutboxSession session, I name) {}

    /** Whether only programs that claim for themselves heed pauses and limits. */
    boolean isHandedOff() {
        return false;
    }

    /** Whether anything has this topic. */
    abstract boolean knows(OutboxSession session, String topic);

    /** What could have a topic. */
    String bearers() {
        return noun();
    }

    /**
     * @param time the name of the time that the list is ordered by
     */
    abstract String[] heads(String time);

    abstract String[] cells(L listed, Instant now);

    abstract ObjectNode json(L listed);

    /** What the time of a list is called. */
    String time(@Nullable WorkStatus state) {
        if (state == null) {
            return "CREATED";
        }
        return switch (state) {
            case READY -> "DUE";
            case IN_PROGRESS -> "BEGUN";
            case DONE, FAILED, CANCELLED -> "ENDED";
            case WAITING -> "CREATED";
        };
    }

    final String nouns() {
        return noun() + "s";
    }

    final String count(long count) {
        return count == 1 ? "1 " + noun() : "%,d %s".formatted(count, nouns());
    }

    final String failed(long count) {
        return count == 1 ? "1 failed " + noun() : "%,d failed %s".formatted(count, nouns());
    }

    final String command(String verb) {
        return "windlass " + word() + " " + verb;
    }

    /** For looking only, which nobody records. */
    final Operator<I, L> reader(OutboxSession session) {
        return operator(session.windlass(), "windlass");
    }

    final void print(List<L> listed, @Nullable WorkStatus state, OutboxSession session) {
        Instant now = session.now();
        Table table = new Table(heads(time(state)));
        listed.forEach(one -> table.row(cells(one, now)));
        table.print(session.page());
    }

    /** Says how many of those that were asked for could be changed. Returns the exit code: something was done, or it is a failure. */
    final int report(OutboxSession session, String participle, String misfits, int asked, int changed) {
        String look = command("show " + names());
        if (changed == 0) {
            throw new CommandFailure("%s none of %s: each is %s; look at one with '%s'"
                    .formatted(participle, count(asked), misfits, look));
        }
        if (changed == asked) {
            session.out().printf("%s %s%n", participle, count(changed));
        } else {
            session.out()
                    .printf(
                            "%s %d of %s; the rest is %s: look with '%s'%n",
                            participle, changed, count(asked), misfits, look);
        }
        return 0;
    }

    /** Attempts that failed: the last one of what has failed is not counted in the database. */
    static String failures(int retryCount, WorkStatus status, boolean isEndedBySomebody) {
        return Integer.toString(retryCount + (status == WorkStatus.FAILED && isEndedBySomebody ? 1 : 0));
    }

    static boolean isMessage(OutboxSession session, UUID id) {
        return session.outbox().find(new OutboxMessageIdentifier(id)).isPresent();
    }

    /** What its commands say in their help where others say something else. */
    final ResourceBundle words() {
        return new ListResourceBundle() {
            @Override
            protected Object[][] getContents() {
                return new Object[][] {
                    {"queue.nouns", nouns()},
                    {"queue.names", names()},
                    {"queue.source", source()},
                    {"queue.topic", topic()},
                    {"queue.cancelled", cancelled()}
                };
            }
        };
    }
}
