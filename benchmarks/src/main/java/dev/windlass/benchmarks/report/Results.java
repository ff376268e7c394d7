package dev.windlass.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** All numbers of a run, and what was left out. */
public final class Results {
    private final Map<Key, List<Double>> values = new LinkedHashMap<>();
    private final Map<Key, Unit> units = new LinkedHashMap<>();
    private final Set<LeftOut> leftOut = new LinkedHashSet<>();

    private record Key(String scenario, String measure, String system) {}

    /**
     * A system that is not in a table.
     *
     * @param failure whether it should have been
     */
    public record LeftOut(String scenario, String system, String reason, boolean failure) {}

    public void add(String scenario, String measure, String system, Unit unit, double value) {
        Key key = new Key(scenario, measure, system);
        values.computeIfAbsent(key, none -> new ArrayList<>()).add(value);
        units.put(key, unit);
    }

    public void leaveOut(LeftOut one) {
        leftOut.add(one);
    }

    public List<LeftOut> leftOut() {
        return List.copyOf(leftOut);
    }

    public List<LeftOut> leftOut(String scenario) {
        return leftOut.stream().filter(one -> one.scenario().equals(scenario)).toList();
    }

    public List<Series> of(String scenario) {
        List<Series> found = new ArrayList<>();
        values.forEach((key, each) -> {
            if (key.scenario().equals(scenario)) {
                Unit unit = units.getOrDefault(key, Unit.PER_SECOND);
                found.add(new Series(scenario, key.measure(), key.system(), unit, each));
            }
        });
        return found;
    }

    public List<Series> of(String scenario, String measure) {
        return of(scenario).stream()
                .filter(each -> each.measure().equals(measure))
                .toList();
    }

    public Optional<Series> find(String scenario, String measure, String system) {
        return of(scenario, measure).stream()
                .filter(each -> each.system().equals(system))
                .findFirst();
    }
}
