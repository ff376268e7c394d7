package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.lease.Leadership;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.lease.LeaseSemaphore;
import dev.windlass.lease.LeaseState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** What docs/leases.md shows one by one, too small for programs of their own. */
final class LeaseRecipes {

    private LeaseRecipes() {}

    static boolean run(Windlass windlass, Runnable index) throws Exception {
        // tag::run
        boolean done = windlass.leases().runIfAcquired("rebuild-index", Duration.ofSeconds(30), lease -> index.run());
        // end::run
        return done;
    }

    static int hold(Windlass windlass, List<Runnable> files) {
        int imported = 0;
        // tag::hold
        Optional<Lease> acquired = windlass.leases().tryAcquire("import", Duration.ofSeconds(30));
        if (acquired.isPresent()) {
            try (Lease lease = acquired.get()) {
                for (Runnable file : files) {
                    lease.throwIfLost();
                    file.run();
                    imported++;
                }
            }
        }
        // end::hold
        return imported;
    }

    static boolean await(Windlass windlass, Runnable migration) throws InterruptedException {
        // tag::await
        Optional<Lease> acquired =
                windlass.leases().tryAcquire("data-migration", Duration.ofSeconds(30), Duration.ofMinutes(2));
        // end::await
        acquired.ifPresent(lease -> {
            try (lease) {
                migration.run();
            }
        });
        return acquired.isPresent();
    }

    static void onLost(Lease lease, Process process) {
        // tag::lost
        lease.onLost(process::destroy);
        // end::lost
    }

    static boolean semaphore(Windlass windlass, Runnable request) throws Exception {
        // tag::semaphore
        LeaseSemaphore slots = windlass.leases().semaphore("tax-office", 5);
        Optional<Lease> permit = slots.tryAcquire(Duration.ofSeconds(30), Duration.ofSeconds(10));
        // end::semaphore
        permit.ifPresent(lease -> {
            try (lease) {
                request.run();
            }
        });
        return permit.isPresent();
    }

    static Leadership lead(Windlass windlass, Runnable refresh) {
        // tag::lead
        Leadership leadership = windlass.leases().lead("price-feed", Duration.ofSeconds(15), lease -> {
            while (!lease.cancellation().isCancelled()) {
                refresh.run();
                TimeUnit.SECONDS.sleep(1);
            }
        });
        // end::lead
        return leadership;
    }

    static String holder(Windlass windlass) {
        // tag::find
        String holder = windlass.leases()
                .find("import")
                .filter(LeaseState::held)
                .map(LeaseState::owner)
                .orElse("nobody");
        // end::find
        return holder;
    }

    static WindlassBuilder options(WindlassBuilder builder) {
        // tag::options
        builder.leases(LeaseOptions.defaults().withRenewAt(0.4).withRetention(Duration.ofDays(1)));
        // end::options
        return builder;
    }
}
