package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Results;
import dev.windlass.benchmarks.report.Results.LeftOut;
import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.system.Ability;
import dev.windlass.benchmarks.system.Server;
import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.WindlassSystem;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/** Where scenarios run: the systems, how much is measured, and where results go. */
public final class Lab {
    static final String TOPIC = "bench";

    private static final Duration WARM_UP = Duration.ofSeconds(15);

    private final Server server;
    private final List<SystemUnderTest> systems;
    private final Scale scale;
    private final Results results;
    private final PrintWriter out;
    private String scenario = "";

    public Lab(Server server, List<SystemUnderTest> systems, Scale scale, Results results, PrintWriter out) {
        this.server = server;
        this.systems = List.copyOf(systems);
        this.scale = scale;
        this.results = results;
        this.out = out;
    }

    /** What one system does in one round. */
    record Step(String system, Body body) {}

    @FunctionalInterface
    interface Body {
        void run(Sink sink) throws Exception;
    }

    /** Takes the numbers of a round. */
    @FunctionalInterface
    interface Sink {
        void put(String measure, Unit unit, double value);
    }

    /** Cannot be measured, for a reason that the page tells. */
    static final class Unmeasured extends Exception {
        private static final long serialVersionUID = 1L;

        private final String reason;

        Unmeasured(String reason) {
            super(reason);
            this.reason = reason;
        }
    }

    /** Lets every system work for some seconds: compilers are not done after one backlog. */
    public void warmUp() throws Exception {
        for (SystemUnderTest system : systems) {
            long end = System.nanoTime() + WARM_UP.toNanos();
            while (scale.warmUp() && System.nanoTime() < end) {
                double rate = TimedDrain.of(system, scale.messages(system), scale.payloadBytes())
                        .whole();
                say(
                        "  %-8s %-24s %s %s",
                        "warm-up", system.name(), Unit.PER_SECOND.format(rate), Unit.PER_SECOND.text());
            }
        }
    }

    /** Runs it; what goes wrong ends this scenario, not the run. */
    public void run(Scenario one) throws InterruptedException {
        scenario = one.name();
        say("%s", one.title());
        try {
            one.run(this);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            leaveOut("all", e);
        }
    }

    Server server() {
        return server;
    }

    /** Tells its tables from those of others that are at work on the same server. */
    String label() {
        return systems.get(0).name().replace('-', '_');
    }

    Scale scale() {
        return scale;
    }

    List<SystemUnderTest> systems(Predicate<SystemUnderTest> choice) {
        return systems.stream().filter(choice).toList();
    }

    /** All but the variants of Windlass that differ only in how it drains. */
    List<SystemUnderTest> different() {
        return systems(each -> !each.name().startsWith("windlass-"));
    }

    /** Those that can; of the others it is noted why not. */
    List<SystemUnderTest> able(List<SystemUnderTest> among, Ability ability) {
        List<SystemUnderTest> able = new ArrayList<>();
        for (SystemUnderTest each : among) {
            each.cannot(ability).ifPresentOrElse(reason -> leaveOut(each.name(), reason), () -> able.add(each));
        }
        return able;
    }

    Optional<WindlassSystem> windlass(String name) {
        return systems.stream()
                .filter(each -> each.name().equals(name))
                .map(WindlassSystem.class::cast)
                .findFirst();
    }

    void leaveOut(String system, String reason) {
        results.leaveOut(new LeftOut(scenario, system, reason, false));
    }

    private void leaveOut(String system, Exception failure) {
        say("  %-24s failed: %s", system, failure);
        results.leaveOut(new LeftOut(scenario, system, "failed: " + failure, true));
    }

    /** Every step in every round, one after the other. */
    void interleave(List<Step> steps) throws InterruptedException {
        rounds(scale.warmUp() ? -1 : 0, scale.rounds(), steps);
    }

    /** The same without a round to warm up, for what does that by itself. */
    void interleaveWarm(List<Step> steps) throws InterruptedException {
        rounds(0, scale.rounds(), steps);
    }

    /** The same in one round, for what takes long. */
    void once(List<Step> steps) throws InterruptedException {
        rounds(0, 1, steps);
    }

    private void rounds(int from, int to, List<Step> all) throws InterruptedException {
        List<Step> steps = new ArrayList<>(all);
        for (int round = from; round < to; round++) {
            for (Step step : List.copyOf(steps)) {
                if (!hasRun(step, round)) {
                    steps.remove(step);
                }
            }
        }
    }

    private boolean hasRun(Step step, int round) throws InterruptedException {
        try {
            step.body().run((measure, unit, value) -> note(step, round, measure, unit, value));
            return true;
        } catch (InterruptedException e) {
            throw e;
        } catch (Unmeasured e) {
            say("  %-24s %s", step.system(), e.reason);
            leaveOut(step.system(), e.reason);
        } catch (Exception e) {
            leaveOut(step.system(), e);
        }
        return false;
    }

    private void note(Step step, int round, String measure, Unit unit, double value) {
        String told = round < 0 ? "warm-up" : "round " + (round + 1);
        say("  %-8s %-24s %-44s %s %s", told, step.system(), measure, unit.format(value), unit.text());
        if (round >= 0) {
            results.add(scenario, measure, step.system(), unit, value);
        }
    }

    private void say(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
        out.flush();
    }
}
