package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.operator.FailedAttempt;
import dev.windlass.schedule.Timer;
import java.time.Instant;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows one timer. */
@Command(
        name = "show",
        description = "Show a timer that is not done and its failed attempts, without payload and headers.")
final class TimersShowCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private TimerChoice choice = new TimerChoice();

    @Option(
            names = "--payload",
            description = "Show payload and headers too. They may hold personal data: mind who sees the screen.")
    private boolean payload;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access);
        return access.with(this::show);
    }

    private int show(OutboxSession session) {
        Timer timer = choice.in(session);
        List<FailedAttempt> failures = session.windlass().timers().failures(timer.id());
        if (json) {
            ObjectNode object = FailedAttempts.add(failures, Json.of(timer));
            if (payload) {
                Json.addContent(object, timer.payload(), timer.headers());
            }
            session.out().println(object);
        } else {
            print(new Sheet(session.out()), timer, session.now());
            FailedAttempts.print(failures, session);
        }
        return 0;
    }

    private void print(Sheet sheet, Timer timer, Instant now) {
        sheet.line("id", timer.id().value());
        sheet.line("topic", timer.topic());
        sheet.line("key", timer.key());
        sheet.line("state", StateName.words(timer.status()));
        sheet.line("correlation id", timer.correlationId());
        sheet.line("created at", timer.createdAt());
        sheet.line("due at", timer.dueTime() + " (" + Span.until(timer.dueTime(), now) + ")");
        if (timer.retryCount() > 0) {
            sheet.line("next attempt at", timer.nextAttempt());
        }
        sheet.line("retries", timer.retryCount());
        sheet.line("lease expiries", timer.leaseExpiries());
        sheet.block("last error", timer.lastError());
        if (payload) {
            new TreeMap<>(timer.headers()).forEach((name, value) -> sheet.line("header", name + ": " + value));
            sheet.block("payload", timer.payload());
        }
    }
}
