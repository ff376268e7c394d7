package dev.windlass.cli;

import dev.windlass.base.WindlassOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** What a node is called, and what it takes. */
final class NodeOptions {
    /** One is kept, and two are used for moments. */
    private static final int FEWEST_CONNECTIONS = 3;

    private static final int MOST_CONNECTIONS = 1_000;

    @Option(
            names = "--node",
            paramLabel = "NAME",
            converter = Name.class,
            description = "What this node is called in what it handles (default: its host and process id).")
    private @Nullable String name;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            converter = Grace.class,
            description = "How long handlers may finish when it is told to stop: 90s, 5m (default: 30s).")
    private @Nullable Duration grace;

    @Option(
            names = "--polling",
            paramLabel = "TIME",
            converter = Polling.class,
            description = "How long it waits between two looks at an idle database, at most: 10s, 1m (default: 30s).")
    private @Nullable Duration polling;

    @Option(
            names = "--connections",
            paramLabel = "N",
            converter = Connections.class,
            description = "How many connections its pool has, at most (default: 10).")
    private int connections = 10;

    WindlassOptions of(WindlassOptions options) {
        WindlassOptions named = name == null ? options : options.withNodeName(name);
        WindlassOptions patient = grace == null ? named : named.withShutdownGrace(grace);
        return polling == null ? patient : patient.withMaxPollingInterval(polling);
    }

    int connections() {
        return connections;
    }

    private static final class Name implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> WindlassOptions.defaults().withNodeName(value), value);
        }
    }

    private static final class Grace implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String value) {
            return Accepted.time(time -> WindlassOptions.defaults().withShutdownGrace(time), value);
        }
    }

    private static final class Polling implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String value) {
            return Accepted.time(time -> WindlassOptions.defaults().withMaxPollingInterval(time), value);
        }
    }

    private static final class Connections implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return Accepted.number(FEWEST_CONNECTIONS, MOST_CONNECTIONS, value);
        }
    }
}
