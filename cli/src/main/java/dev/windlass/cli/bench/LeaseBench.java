package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.lease.Lease;
import dev.windlass.lease.Leases;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;

/** Leases: acquiring and releasing, and being refused. */
public final class LeaseBench extends SingleCalls {
    private static final Duration LEASE = Duration.ofSeconds(30);

    public LeaseBench(PrintWriter out, Settings settings) {
        super(out, settings);
    }

    @Override
    List<Call> calls(Windlass windlass) {
        Leases leases = windlass.leases();
        Lease held = leases.tryAcquire("held", LEASE).orElseThrow();
        return List.of(
                new Call(
                        "acquire and release a lease",
                        () -> leases.tryAcquire("bench", LEASE).orElseThrow().close()),
                new Call("an acquisition that is refused", () -> refused(leases, held)));
    }

    private static void refused(Leases leases, Lease held) {
        if (leases.tryAcquire(held.name(), LEASE).isPresent()) {
            throw new IllegalStateException("expected lease " + held.name() + " to be held, got it");
        }
    }

    @Override
    String nextName() {
        return "bench";
    }
}
