package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.join.Join;
import dev.windlass.join.JoinMember;
import dev.windlass.operator.Page;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows one join. */
@Command(name = "show", description = "Show a join and its steps.")
final class JoinsShowCommand implements Callable<Integer> {
    private static final int MOST_STEPS = 1000;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private JoinChoice choice = new JoinChoice();

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        return access.with(this::show);
    }

    private int show(OutboxSession session) {
        Join join = choice.in(session);
        Page<JoinMember> steps = session.windlass().joins().members(join.id(), MOST_STEPS);
        if (json) {
            session.out().println(json(join, steps));
        } else {
            print(new Sheet(session.out()), join);
            print(steps, session);
        }
        if (steps.next().isPresent()) {
            access.note("these are the first %,d steps".formatted(MOST_STEPS));
        }
        return 0;
    }

    private static ObjectNode json(Join join, Page<JoinMember> steps) {
        ObjectNode object = Json.of(join).put("metadata", Json.text(join.metadata()));
        ArrayNode array = object.putArray("steps");
        for (JoinMember step : steps) {
            array.addObject()
                    .put("id", step.id().toString())
                    .put("queue", Json.text(step.queue()))
                    .put("status", step.status().name());
        }
        return object;
    }

    private static void print(Sheet sheet, Join join) {
        sheet.line("id", join.id());
        sheet.line("key", join.groupingKey());
        sheet.line("state", JoinsListCommand.word(join.status()));
        sheet.line("steps", join.expectedSteps());
        sheet.line("attached", join.members());
        sheet.line("completed", join.completedSteps());
        sheet.line("failed", join.failedSteps());
        sheet.line("fails with", join.failedByAny() ? "any failed step" : "none");
        sheet.line("created at", join.createdAt());
        sheet.line("changed at", join.updatedAt());
        sheet.line("ended at", join.endedAt());
        sheet.line("follow-up", join.followUpId());
        sheet.line("last error", join.lastError());
        sheet.block("metadata", join.metadata());
    }

    private static void print(Page<JoinMember> steps, OutboxSession session) {
        if (steps.isEmpty()) {
            return;
        }
        session.out().println();
        Table table = new Table("STEP", "QUEUE", "STATE");
        steps.forEach(step ->
                table.row(step.id().toString(), step.queue().orElse("reported"), JoinsListCommand.word(step.status())));
        table.print(session.page());
    }
}
