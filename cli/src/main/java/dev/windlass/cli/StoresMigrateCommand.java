package dev.windlass.cli;

import dev.windlass.Fleet;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.StoreMigration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Brings the schemas of many stores up to date. */
@Command(
        name = "migrate",
        description =
                "Create or upgrade Windlass's tables and routines in many stores; one that fails keeps no other from it.")
final class StoresMigrateCommand implements Callable<Integer> {

    @Mixin
    private StoreOptions stores = new StoreOptions();

    @Override
    public Integer call() {
        List<StorePlace> all = stores.all();
        Paper page = stores.page();
        List<StoreMigration> failed = migrate(all, page).stream()
                .filter(store -> store.problem().isPresent())
                .toList();
        page.sentence("%d of %d stores are up to date%s"
                .formatted(all.size() - failed.size(), all.size(), failed.isEmpty() ? "" : ", these are not:"));
        failed.forEach(store -> page.sentence("  " + Printable.line(store.id()) + ": " + problem(store)));
        page.out().flush();
        if (!failed.isEmpty()) {
            throw new CommandFailure("could not migrate " + failed.size() + " of " + all.size()
                    + " stores; mend the reasons above and run it again, which changes nothing in the others");
        }
        return 0;
    }

    private List<StoreMigration> migrate(List<StorePlace> all, Paper page) {
        return Fleet.over(all.stream().map(StorePlace::store).toList())
                .each(windlass -> stores.schema().describe(windlass))
                .options(FleetOptions.defaults().withParallelism(stores.parallel()))
                .migrate(store -> say(page, store));
    }

    /** A line, and at once: there may be hundreds, and somebody watches. */
    private static void say(Paper page, StoreMigration store) {
        synchronized (page.out()) {
            page.out()
                    .println("%d of %d: %s %s (%s)"
                            .formatted(
                                    store.number(),
                                    store.of(),
                                    Printable.line(store.id()),
                                    store.problem().isEmpty() ? "is up to date" : "failed: " + problem(store),
                                    Span.fine(store.took())));
            page.out().flush();
        }
    }

    /** Without the name of the store, which stands before it. */
    private static String problem(StoreMigration store) {
        String sentence = store.problem().orElse("");
        String name = "[" + store.id() + "] ";
        return Secrets.mask(Printable.line(sentence.startsWith(name) ? sentence.substring(name.length()) : sentence));
    }
}
