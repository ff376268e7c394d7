package dev.windlass.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists stores with what they have of Windlass, and what they lack. */
@Command(
        name = "list",
        description =
                "List stores: where they are, whether they can be reached, what they have of Windlass, what is to migrate.")
final class StoresListCommand implements Callable<Integer> {

    @Mixin
    private StoreOptions stores = new StoreOptions();

    @Mixin
    private StoreSurvey survey = new StoreSurvey();

    @Option(names = "--json", description = "Print one JSON object per line.")
    private boolean json;

    @Override
    public Integer call() {
        List<StoreAnswer> answers = survey.ask(stores, false);
        Paper page = stores.page();
        if (json) {
            answers.forEach(answer -> page.out().println(StoreJson.of(answer)));
        } else {
            print(answers, page);
        }
        page.out().flush();
        return 0;
    }

    private static void print(List<StoreAnswer> answers, Paper page) {
        Table table = new Table("STORE", "DATABASE", "SCHEMA", "STATE", "TABLES");
        for (StoreAnswer answer : answers) {
            table.row(
                    answer.store().id(),
                    answer.store().database(),
                    answer.store().schema().schema,
                    answer.condition().toString(),
                    tables(answer));
        }
        table.print(page);
    }

    private static String tables(StoreAnswer answer) {
        return switch (answer.condition()) {
            case UNREACHABLE, UNREADABLE -> String.valueOf(answer.problem());
            case NO_TABLES -> "-";
            case TO_MIGRATE -> answer.inWords() + "; has " + answer.installed();
            case TOO_NEW, UP_TO_DATE -> answer.installed().toString();
        };
    }
}
