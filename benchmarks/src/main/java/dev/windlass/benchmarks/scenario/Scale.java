package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.system.SystemUnderTest;
import java.time.Duration;

/**
 * How much is measured.
 *
 * @param messages of one drain by the fastest systems; others get their share
 * @param warmUp whether there is a round before the first that is not counted
 * @param steady how long messages are sent at a steady rate
 * @param idle how long nothing is done while statements are counted
 * @param backlog the largest one
 * @param timers how many are due within one second
 * @param million the messages of the drain in a small heap
 * @param processes the most worker processes
 */
public record Scale(
        int rounds,
        boolean warmUp,
        int messages,
        int payloadBytes,
        Duration steady,
        Duration idle,
        int backlog,
        int timers,
        int million,
        int processes) {
    private static final int FEWEST = 40;

    public Scale {
        if (rounds < 1 || messages < FEWEST || processes < 1) {
            throw new IllegalArgumentException("expected 1 round, " + FEWEST + " messages and 1 process at least, got "
                    + rounds + ", " + messages + " and " + processes);
        }
    }

    /** Up to an hour on a small machine. */
    public static Scale usual() {
        return new Scale(
                3, true, 100_000, 200, Duration.ofSeconds(6), Duration.ofSeconds(30), 1_000_000, 10_000, 1_000_000, 8);
    }

    /** Some minutes. */
    public static Scale quick() {
        return new Scale(
                1, true, 20_000, 200, Duration.ofSeconds(3), Duration.ofSeconds(15), 100_000, 10_000, 100_000, 4);
    }

    /** Everything, but as little of it as can be: for a test. */
    public static Scale tiny() {
        Duration moment = Duration.ofMillis(200);
        return new Scale(1, false, FEWEST, 200, moment, moment, FEWEST, FEWEST, FEWEST, 1);
    }

    public Scale withRounds(int rounds) {
        return new Scale(rounds, warmUp, messages, payloadBytes, steady, idle, backlog, timers, million, processes);
    }

    public Scale withMessages(int messages) {
        return new Scale(rounds, warmUp, messages, payloadBytes, steady, idle, backlog, timers, million, processes);
    }

    public Scale withBacklog(int backlog) {
        return new Scale(rounds, warmUp, messages, payloadBytes, steady, idle, backlog, timers, million, processes);
    }

    int messages(SystemUnderTest system) {
        return share(system, messages);
    }

    static int share(SystemUnderTest system, int messages) {
        return Math.max(FEWEST, (int) (messages * system.share()));
    }
}
