package dev.windlass.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.Overtime;
import dev.windlass.base.QueueOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WindlassOptions;
import dev.windlass.health.HealthOptions;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.store.FleetOptions;
import dev.windlass.work.WorkOptions;
import java.io.IOException;
import java.io.StringReader;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Each property reaches the option that it is for: none has the value of another, or of a default. */
final class PropertiesToOptionsTest {
    private static final String GIVEN = """
            windlass.schema=shop
            windlass.ensure-schema=true
            windlass.workers=false
            windlass.node-name=node-7
            windlass.max-polling-interval=11s
            windlass.wake-up=false
            windlass.shutdown-grace=12s
            windlass.auto-commit-allowed=true
            windlass.transaction-required=true
            windlass.retries-as-warnings=true
            windlass.outbox.table=outbox_2
            windlass.outbox.polling-interval=101ms
            windlass.outbox.batch-size=102
            windlass.outbox.lease=103s
            windlass.outbox.concurrency=104
            windlass.outbox.retention=105d
            windlass.outbox.max-lease-expiries=106
            windlass.outbox.failed-head=is-skipped
            windlass.outbox.handlers.concurrency=107
            windlass.outbox.handlers.timeout=108s
            windlass.outbox.handlers.overtime=hold
            windlass.outbox.handlers.max-attempts=109
            windlass.outbox.handlers.retry-after=110ms
            windlass.outbox.handlers.retry-at-most-after=111s
            windlass.inbox.table=inbox_2
            windlass.inbox.polling-interval=201ms
            windlass.inbox.batch-size=202
            windlass.inbox.lease=203s
            windlass.inbox.concurrency=204
            windlass.inbox.retention=205d
            windlass.inbox.max-lease-expiries=206
            windlass.inbox.guard-lease=212s
            windlass.inbox.renew-at-most=213m
            windlass.inbox.wait-at-most=214s
            windlass.inbox.max-attempts=215
            windlass.inbox.handlers.concurrency=207
            windlass.inbox.handlers.timeout=208s
            windlass.inbox.handlers.overtime=hold
            windlass.inbox.handlers.max-attempts=209
            windlass.inbox.handlers.retry-after=210ms
            windlass.inbox.handlers.retry-at-most-after=211s
            windlass.work.table=work_2
            windlass.work.polling-interval=301ms
            windlass.work.batch-size=302
            windlass.work.lease=303s
            windlass.work.concurrency=304
            windlass.work.retention=305d
            windlass.work.max-lease-expiries=306
            windlass.work.ageing=312m
            windlass.work.handlers.concurrency=307
            windlass.work.handlers.timeout=308s
            windlass.work.handlers.overtime=hold
            windlass.work.handlers.max-attempts=309
            windlass.work.handlers.retry-after=310ms
            windlass.work.handlers.retry-at-most-after=311s
            windlass.schedule.hand-off=false
            windlass.schedule.batch-size=401
            windlass.schedule.lease=402s
            windlass.schedule.run-retention=403d
            windlass.leases.table=lease_2
            windlass.leases.renew-at=0.5
            windlass.leases.retention=501d
            windlass.health.timeout=601s
            windlass.health.cache-for=602s
            windlass.health.backlog-degraded=603
            windlass.health.backlog-unhealthy=604
            windlass.health.overdue-degraded=605
            windlass.health.overdue-unhealthy=606
            windlass.health.stuck-unhealthy=607
            windlass.health.throughput-degraded=68
            windlass.fleet.connections=701
            windlass.fleet.concurrency=702
            windlass.fleet.in-hand=7003
            windlass.fleet.claims-at-once=74
            windlass.fleet.kept-connections=75
            windlass.fleet.refresh-every=706s
            windlass.fleet.parallelism=77
            windlass.name=orders
            windlass.enabled=true
            windlass.features=outbox
            windlass.data-source=beans
            windlass.transaction-manager=manager
            """;

    private final WindlassBuilder builder = Windlass.on(new DriverManagerDataSource());
    private final WindlassProperties properties = new Binder(new MapConfigurationPropertySource(given()))
            .bind("windlass", WindlassProperties.class)
            .get();

    PropertiesToOptionsTest() {
        new PropertiesToOptions(properties).customize(builder);
    }

    private static Properties given() {
        Properties given = new Properties();
        try {
            given.load(new StringReader(GIVEN));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return given;
    }

    /** What the builder has now. */
    private static <O> O taken(Consumer<UnaryOperator<O>> changing) {
        AtomicReference<O> taken = new AtomicReference<>();
        changing.accept(its -> {
            taken.set(its);
            return its;
        });
        return Objects.requireNonNull(taken.get());
    }

    private static QueueOptions queue(int hundreds, Duration retention) {
        return new QueueOptions(
                Duration.ofMillis(hundreds + 1),
                hundreds + 2,
                Duration.ofSeconds(hundreds + 3),
                hundreds + 4,
                retention,
                hundreds + 6,
                HandlerOptions.defaults()
                        .withConcurrency(hundreds + 7)
                        .withTimeout(Duration.ofSeconds(hundreds + 8))
                        .withOvertime(Overtime.HOLD)
                        .withRetry(RetryPolicy.defaults()
                                .withMaxAttempts(hundreds + 9)
                                .withBase(Duration.ofMillis(hundreds + 10))
                                .withCap(Duration.ofSeconds(hundreds + 11))));
    }

    @Test
    void ofTheWholeProgram() {
        WindlassOptions options = taken(builder::options);

        assertThat(options)
                .isEqualTo(new WindlassOptions(
                        "shop",
                        true,
                        false,
                        Duration.ofSeconds(11),
                        false,
                        Duration.ofSeconds(12),
                        "node-7",
                        true,
                        true,
                        true,
                        RetryPolicy.ofCalls()));
    }

    @Test
    void ofTheQueues() {
        OutboxOptions outbox = taken(builder::outbox);
        InboxOptions inbox = taken(builder::inbox);
        WorkOptions work = taken(builder::work);

        assertThat(outbox)
                .isEqualTo(new OutboxOptions(
                        "outbox_2", queue(100, Duration.ofDays(105)), FailedHead.IS_SKIPPED, Map.of()));
        assertThat(inbox)
                .isEqualTo(new InboxOptions(
                        "inbox_2",
                        queue(200, Duration.ofDays(205)),
                        Duration.ofSeconds(212),
                        Duration.ofMinutes(213),
                        Duration.ofSeconds(214),
                        215));
        assertThat(work)
                .isEqualTo(new WorkOptions("work_2", queue(300, Duration.ofDays(305)), Duration.ofMinutes(312)));
    }

    @Test
    void ofTheOthers() {
        ScheduleOptions schedule = taken(builder::schedule);
        LeaseOptions leases = taken(builder::leases);
        HealthOptions health = taken(builder::health);

        assertThat(schedule).isEqualTo(new ScheduleOptions(false, 401, Duration.ofSeconds(402), Duration.ofDays(403)));
        assertThat(leases).isEqualTo(new LeaseOptions("lease_2", 0.5, Duration.ofDays(501)));
        assertThat(health)
                .isEqualTo(new HealthOptions(
                        Duration.ofSeconds(601), Duration.ofSeconds(602), 603, 604, 605, 606, 607, 68));
    }

    @Test
    void ofAFleet() {
        FleetOptions fleet = PropertiesToOptions.fleet(properties.fleet());

        assertThat(fleet)
                .isEqualTo(new FleetOptions(702, 7003, 74, 75, Duration.ofSeconds(706), 77, fleet.selection()));
        assertThat(properties.fleet().connections()).isEqualTo(701);
    }

    @Test
    void noneIsForgotten() {
        assertThat(names("windlass", WindlassProperties.class))
                .containsExactlyInAnyOrderElementsOf(given().stringPropertyNames());
    }

    private static Stream<String> names(String prefix, Class<?> type) {
        return Stream.of(type.getRecordComponents())
                .filter(each -> each.getType() != Map.class)
                .flatMap(each -> names(prefix, each));
    }

    private static Stream<String> names(String prefix, RecordComponent component) {
        String name =
                prefix + "." + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
        return component.getType().isRecord() && !(component.getGenericType() instanceof ParameterizedType)
                ? names(name, component.getType())
                : Stream.of(name);
    }
}
