package dev.windlass.cli;

import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.ListedMessage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists what somebody began, and nobody has ended. */
@Command(
        name = "stuck",
        description = "List messages in progress whose lease has run out, or that take long, the oldest first.")
final class InboxStuckCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(
            names = "--older",
            paramLabel = "TIME",
            defaultValue = "1h",
            converter = Distance.class,
            description = "Take long means longer than this: 90s, 30m, 2h, 7d (default: ${DEFAULT-VALUE}).")
    private Duration older = Duration.ofHours(1);

    @Override
    public Integer call() throws Exception {
        return access.with(session -> {
            List<ListedMessage> stuck =
                    session.windlass().inbox().operator("windlass").stuck(older, page.limit);
            if (page.json) {
                stuck.forEach(message -> session.out().println(Json.of(message)));
            } else if (stuck.isEmpty()) {
                session.out().println("no stuck messages");
            } else {
                new InboxQueue().print(stuck, WorkStatus.IN_PROGRESS, session);
            }
            return 0;
        });
    }
}
