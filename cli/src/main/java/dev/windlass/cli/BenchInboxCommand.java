package dev.windlass.cli;

import dev.windlass.cli.bench.InboxBench;
import dev.windlass.cli.bench.SingleCalls;
import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** Beginning and marking. */
@Command(name = "inbox", description = "Beginning and marking messages in the inbox, beside a bare upsert of one row.")
final class BenchInboxCommand extends BenchSingleCalls {
    @Override
    SingleCalls bench(PrintWriter out, SingleCalls.Settings settings) {
        return new InboxBench(out, settings);
    }
}
