package dev.windlass.cli;

import dev.windlass.cli.bench.LeaseBench;
import dev.windlass.cli.bench.SingleCalls;
import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** Acquiring and releasing. */
@Command(name = "leases", description = "Acquiring and releasing leases, beside a bare upsert of one row.")
final class BenchLeasesCommand extends BenchSingleCalls {
    @Override
    SingleCalls bench(PrintWriter out, SingleCalls.Settings settings) {
        return new LeaseBench(out, settings);
    }
}
