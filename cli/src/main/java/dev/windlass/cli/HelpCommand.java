package dev.windlass.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The same as {@code --help}, for those who ask in words. */
@Command(name = "help", description = "Show help for a command: windlass help outbox failed.")
final class HelpCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "The command, word by word.")
    private List<String> words = List.of();

    @Override
    public Integer call() {
        CommandLine asked = spec.parent().commandLine();
        for (String word : words) {
            CommandLine below = asked.getSubcommands().get(word);
            if (below == null) {
                throw new ParameterException(asked, CommandGroup.unknown(asked.getCommandSpec(), word));
            }
            asked = below;
        }
        asked.usage(spec.commandLine().getOut());
        return 0;
    }
}
