package dev.windlass.cli;

import dev.windlass.internal.fleet.Parallel;
import dev.windlass.internal.loop.Workers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Asks all stores, several at once. One that does not answer is told as such, and delays no other. */
final class StoreSurvey {
    private static final Duration LONGEST = Duration.ofHours(1);
    /** One that takes longer does not count among those that are asked at once. */
    private static final Duration TURN = Duration.ofSeconds(1);
    /** For the driver to say in its own words that there was no answer. */
    private static final Duration SPARE = Duration.ofSeconds(1);

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = Patience.class,
            description = "Wait no longer for an answer of a store (default: ${DEFAULT-VALUE}).")
    private Duration patience = Duration.ofSeconds(10);

    /** In the order in which the stores were given. */
    List<StoreAnswer> ask(StoreOptions stores, boolean withStatus) {
        List<StorePlace> all = stores.all();
        Map<String, StoreAnswer> answers = new ConcurrentHashMap<>();
        List<Runnable> questions = all.stream()
                .map(store -> (Runnable) () -> answers.put(store.id(), StoreAnswer.of(store, patience, withStatus)))
                .toList();
        try (Workers workers = new Workers()) {
            new Parallel(workers, stores.parallel(), TURN).all(questions, patience.plus(SPARE));
        }
        return all.stream()
                .map(store -> Optional.ofNullable(answers.get(store.id()))
                        .orElseGet(() -> StoreAnswer.silent(store, patience)))
                .toList();
    }

    private static final class Patience implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String value) {
            return Distance.read(value)
                    .filter(time -> !time.isZero() && time.compareTo(LONGEST) <= 0)
                    .orElseThrow(
                            () -> new TypeConversionException("expected a time from 1s to 1h, got '" + value + "'"));
        }
    }
}
