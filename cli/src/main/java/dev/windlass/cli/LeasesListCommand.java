package dev.windlass.cli;

import dev.windlass.lease.LeaseState;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists leases and permits, by name. */
@Command(name = "list", description = "List leases and permits of semaphores: who holds them, or held them last.")
final class LeasesListCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Option(names = "--held", description = "Only those that somebody holds.")
    private boolean held;

    @Option(names = "--json", description = "Print one JSON object per line.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        List<LeaseState> leases = session.windlass().leases().list().stream()
                .filter(lease -> lease.held() || !held)
                .toList();
        if (json) {
            leases.forEach(lease -> session.out().println(Json.of(lease)));
        } else if (leases.isEmpty()) {
            session.out().println("no leases");
        } else {
            print(leases, session);
        }
        return 0;
    }

    private static void print(List<LeaseState> leases, OutboxSession session) {
        Table table = new Table("NAME", "TOKEN", "EXPIRES", "STATE", "OWNER");
        for (LeaseState lease : leases) {
            table.row(
                    lease.permit() == 0 ? lease.name() : lease.name() + " (permit " + lease.permit() + ")",
                    Long.toString(lease.fencingToken()),
                    Printable.seconds(lease.expiresAt()),
                    lease.held() ? "held" : "free",
                    lease.owner());
        }
        table.print(session.page());
    }
}
