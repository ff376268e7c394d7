package dev.windlass.cli;

import dev.windlass.store.FleetOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which stores a command is about, and how many of them at once. */
final class StoreOptions {
    private static final int MOST = 1_000;

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "The stores of a file, with a line such as north = jdbc:postgresql://host/database for each.")
    private @Nullable Path file;

    @Option(
            names = "--databases",
            paramLabel = "PATTERN",
            converter = NamePattern.Converter.class,
            description = "All databases of the server with a name like this, where * is any text: 'tenant_*'.")
    private @Nullable NamePattern databases;

    @Option(
            names = "--schemas",
            paramLabel = "PATTERN",
            converter = NamePattern.Converter.class,
            description = "All schemas of the database with a name like this, where * is any text: 'tenant_*'.")
    private @Nullable NamePattern schemas;

    @Option(
            names = "--parallel",
            paramLabel = "N",
            converter = AtOnce.class,
            description = "At most so many at once; one that takes long does not count (default: 8).")
    private @Nullable Integer parallel;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private SchemaOptions schema = new SchemaOptions();

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init")
    private CommandSpec command;

    int parallel() {
        return parallel == null ? FleetOptions.defaults().parallelism() : parallel;
    }

    /** At least one; those that were found are in the order of their names. */
    List<StorePlace> all() {
        requireOneWay();
        if (file != null) {
            return inFile(file);
        }
        Target target = database.required(command, environment());
        return databases == null ? schemas(target, Objects.requireNonNull(schemas)) : databases(target, databases);
    }

    private void requireOneWay() {
        long ways = Stream.of(file, databases, schemas).filter(Objects::nonNull).count();
        if (ways != 1) {
            throw wrongUse("expected one of --file, --databases and --schemas, got "
                    + (ways == 0 ? "none of them" : "more than one of them"));
        }
        if (file != null && database.hasUrlOption()) {
            throw wrongUse("expected --file without --url, got both; the file has the URL of each store");
        }
        if (schemas != null && command.commandLine().getParseResult().hasMatchedOption("--schema")) {
            throw wrongUse("expected --schemas without --schema, got both");
        }
    }

    private List<StorePlace> inFile(Path path) {
        try {
            List<StorePlace> stores = StoresFile.read(path).stream()
                    .map(entry -> new StorePlace(
                            entry.id(), entry.target(), schema.in(entry.schema().orElse(schema.schema))))
                    .toList();
            warnOfReaders(path, stores);
            return stores.stream().map(this::withLogin).toList();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), "--file " + path + ": " + e.getMessage(), e);
        }
    }

    private void warnOfReaders(Path path, List<StorePlace> stores) {
        if (stores.stream().anyMatch(store -> store.target().hasPassword())
                && new PasswordFile(path).isOpenToOthers()) {
            note("file \"" + path + "\" holds passwords, and can be used by others than its owner; run: chmod 600 "
                    + path);
        }
    }

    private StorePlace withLogin(StorePlace store) {
        return new StorePlace(store.id(), database.listed(store.target(), command, environment()), store.schema());
    }

    private List<StorePlace> databases(Target target, NamePattern pattern) {
        return new StoreSearch(target)
                .databases(pattern).stream()
                        .map(name ->
                                new StorePlace(name, database.neighbour(target, name, command, environment()), schema))
                        .toList();
    }

    /** There may be schemas with names that Windlass cannot use, and never has used. */
    private List<StorePlace> schemas(Target target, NamePattern pattern) {
        List<StorePlace> stores = new ArrayList<>();
        for (String name : new StoreSearch(target).schemas(pattern)) {
            try {
                StorePlace store = new StorePlace(name, target, schema.in(name));
                store.store();
                stores.add(store);
            } catch (IllegalArgumentException e) {
                note("a schema is left out: " + e.getMessage());
            }
        }
        if (stores.isEmpty()) {
            throw new CommandFailure("expected a schema that Windlass can use, found none; correct the pattern");
        }
        return stores;
    }

    /** The names of the tables in each. */
    SchemaOptions schema() {
        return schema;
    }

    Paper page() {
        return WindlassCommand.above(command).page();
    }

    private Map<String, String> environment() {
        return WindlassCommand.above(command).environment();
    }

    private void note(String sentence) {
        command.commandLine().getErr().println("windlass: " + Printable.line(sentence));
    }

    private ParameterException wrongUse(String sentence) {
        return new ParameterException(command.commandLine(), sentence);
    }

    private static final class AtOnce implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return Accepted.number(1, MOST, value);
        }
    }
}
