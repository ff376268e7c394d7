package dev.windlass.cli;

import dev.windlass.base.WorkStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** Lists what a queue holds. */
@Command(
        name = "list",
        description = {
            "List ${bundle:queue.nouns}, without their payloads.",
            "Unfinished ones of a state come the oldest first, ended ones and those of all states the latest first. The time is"
                    + " that of the state: due, begun or ended; else created."
        })
final class ListCommand extends QueueList {

    @Option(
            names = "--state",
            paramLabel = "STATE",
            converter = State.class,
            description = "Only ${bundle:queue.nouns} that are ready, in-progress, done, failed, waiting or cancelled.")
    private @Nullable WorkStatus state;

    @Override
    @Nullable
    WorkStatus state() {
        return state;
    }

    @Override
    List<String> stateWords() {
        return state == null ? List.of() : List.of("--state", StateName.option(state));
    }

    @Override
    String none(String nouns) {
        return "no " + nouns;
    }

    private static final class State implements ITypeConverter<WorkStatus> {
        @Override
        public WorkStatus convert(String value) {
            return StateName.read(WorkStatus.class, value);
        }
    }
}
