package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.Claims;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.OwnerToken;
import dev.windlass.operator.Page;
import dev.windlass.schedule.ClaimedJobRun;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobOperator;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Overlap;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What docs/jobs.md shows one by one, too small for programs of their own. */
final class JobRecipes {

    private JobRecipes() {}

    static void save(Windlass windlass) {
        // tag::save
        windlass.jobs()
                .save(Job.cron("nightly-report", "0 2 * * *", ZoneId.of("Europe/Berlin"))
                        .withTopic("report.run")
                        .withPayload("{\"format\": \"pdf\"}"));
        // end::save
    }

    static WindlassBuilder handling(WindlassBuilder builder, Consumer<String> reports) {
        // tag::handle
        builder.outboxHandler(
                "report.run",
                HandlerOptions.defaults().withTimeout(Duration.ofMinutes(30)),
                message -> reports.accept(message.headers().get("windlass-tick")));
        // end::handle
        return builder;
    }

    static void every(Windlass windlass) {
        // tag::every
        windlass.jobs()
                .save(Job.every("poll-bank", Duration.ofMinutes(5))
                        .withTopic("bank.poll")
                        .withOverlap(Overlap.SKIP)
                        .withMisfire(Misfire.skip())
                        .withJitter(Duration.ofSeconds(20)));
        // end::every
    }

    static void delay(Windlass windlass) {
        // tag::delay
        windlass.jobs()
                .save(Job.every("sync-stock", Duration.ofMinutes(5))
                        .withTopic("stock.sync")
                        .withOverlap(Overlap.DELAY));
        // end::delay
    }

    static WindlassBuilder inOneCall(WindlassBuilder builder, Consumer<String> sweep) {
        // tag::one-call
        builder.job(
                Job.cron("sweep-carts", "*/10 * * * *", ZoneId.of("Europe/Berlin")),
                message -> sweep.accept(message.headers().get("windlass-tick")));
        // end::one-call
        return builder;
    }

    static WindlassBuilder declared(WindlassBuilder builder) {
        // tag::set
        builder.jobs(JobSet.of("billing", 7)
                .with(
                        Job.cron("invoices", "0 6 1 * *", ZoneId.of("Europe/Berlin"))
                                .withTopic("invoices.run"),
                        Job.cron("dunning", "0 9 * * MON-FRI", ZoneId.of("Europe/Berlin"))
                                .withTopic("dunning.run"),
                        Job.every("poll-payments", Duration.ofMinutes(1))
                                .withTopic("payments.poll")
                                .withOverlap(Overlap.SKIP)));
        // end::set
        return builder;
    }

    static JobRun trigger(Windlass windlass) {
        // tag::trigger
        JobRun run = windlass.jobs().trigger("nightly-report");
        // end::trigger
        return run;
    }

    static void rest(Windlass windlass) {
        // tag::pause
        windlass.jobs().pause("nightly-report");
        windlass.jobs().resume("nightly-report");
        // end::pause
    }

    static void restByHand(Windlass windlass) {
        // tag::operator
        JobOperator anna = windlass.jobs().operator("anna");
        anna.pauseJob("nightly-report");
        anna.resumeJob("nightly-report");
        // end::operator
    }

    static WindlassBuilder reporting(WindlassBuilder builder, Supplier<Jobs> jobs) {
        // tag::output
        builder.outboxHandler("report.run", message -> {
            int sent = 412;
            jobs.get().recordOutput(JobRunIdentifier.of(message), sent + " reports sent");
        });
        // end::output
        return builder;
    }

    static String look(Windlass windlass) {
        StringBuilder out = new StringBuilder();
        // tag::look
        for (JobState job : windlass.jobs().list()) {
            out.append(job.name()).append(" next at ").append(job.nextTick().orElse(null));
            job.lastRun().ifPresent(run -> out.append(", last run ").append(run.status()));
            job.problem().ifPresent(problem -> out.append(", ").append(problem));
            out.append('\n');
        }
        Page<JobRun> history = windlass.jobs().runs("nightly-report", 20);
        // end::look
        return out.append(history.size()).append(" runs").toString();
    }

    static void delete(Windlass windlass) {
        // tag::delete
        windlass.jobs().delete("poll-bank");
        // end::delete
    }

    static void claim(Windlass windlass, Consumer<ClaimedJobRun> work) {
        // tag::claim
        OwnerToken owner = OwnerToken.fresh();
        Claims<ClaimedJobRun, JobRunIdentifier> runs = windlass.jobs().runClaims();
        for (ClaimedJobRun claimed : runs.claim(owner, Duration.ofMinutes(5), 10)) {
            try {
                work.accept(claimed);
                runs.ack(owner, List.of(claimed.run().id()));
            } catch (RuntimeException e) {
                runs.fail(owner, List.of(claimed.run().id()), "broken: " + e);
            }
        }
        // end::claim
    }
}
