package dev.windlass.testkit;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.Topic;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.internal.support.InWords;
import dev.windlass.internal.support.Require;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives a JUnit test a real PostgreSQL with Windlass's tables, waits for work to be handled, and lets time pass.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final WindlassExtension database = WindlassExtension.create();
 *
 * @Test
 * void remindsAfterThreeDays() {
 *     Windlass windlass = database.start(database.windlass().outboxHandler("reminder", mails::add));
 *     windlass.timers().schedule(TimerEntry.of("reminder", "order 7", Duration.ofDays(3)));
 *
 *     database.drain();
 *     assertThat(mails).isEmpty();
 *
 *     database.advance(Duration.ofDays(3));
 *     database.drain();
 *     assertThat(mails).hasSize(1);
 * }
 * }</pre>
 *
 * <p>One server serves all tests of a JVM. Each test class has a fresh schema, dropped afterwards; {@code @Nested} classes
 * share that of the class around them. After each test the nodes it started are closed and all tables in the schema are
 * emptied; the schema is Windlass's, so keep tables of your own in another one ({@code public}, for example). Tests of one
 * class run one after another; classes may run side by side.
 *
 * <p>The field may be static or not; a static one can also be used in {@code @BeforeAll}. Needs JUnit 5.13 or newer, or
 * JUnit 6.
 */
public final class WindlassExtension implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback {
    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(WindlassExtension.class);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long BETWEEN_QUESTIONS = 100;

    private final Setup setup;
    private @Nullable Sandbox sandbox;
    private boolean ofClass;

    /** What makes one sandbox unlike another; instances that JUnit makes for each test share theirs by it. */
    private record Setup(@Nullable DataSource dataSource, OutboxOptions outbox) {}

    private WindlassExtension(Setup setup) {
        this.setup = setup;
    }

    /** On the embedded server of this JVM, which starts with the first test that needs it. */
    public static WindlassExtension create() {
        return new WindlassExtension(new Setup(null, testOptions()));
    }

    /** On a test database of your own; its user must be allowed to create schemas. The data source is not closed. */
    public static WindlassExtension on(DataSource dataSource) {
        return new WindlassExtension(new Setup(Require.present("data source", dataSource), testOptions()));
    }

    private static OutboxOptions testOptions() {
        return OutboxOptions.defaults().withPollingInterval(Duration.ofMillis(10));
    }

    /** The same with these outbox options, for another table name or a retention of zero, for example. */
    public WindlassExtension outbox(OutboxOptions options) {
        return new WindlassExtension(new Setup(setup.dataSource, Require.present("set of outbox options", options)));
    }

    /** The database: a pool on the embedded server, or what was given to {@link #on}. */
    public DataSource dataSource() {
        return sandbox().dataSource();
    }

    /** The schema that holds Windlass's tables for this test class. */
    public String schema() {
        return sandbox().schema();
    }

    /** The options of {@link #windlass()}, to change some: this schema, a look for work every 50 ms, short shutdown. */
    public WindlassOptions options() {
        return sandbox().options();
    }

    /** A Windlass on this schema with options that suit tests; add handlers, and give it to {@link #start}. */
    public WindlassBuilder windlass() {
        return sandbox().windlass();
    }

    /** Starts a node, and closes it after the test, or after the class when called in {@code @BeforeAll}. */
    public Windlass start(WindlassBuilder builder) {
        return sandbox().start(Require.present("builder", builder));
    }

    /** Something that becomes true. */
    @FunctionalInterface
    public interface Condition {
        boolean isMet() throws Exception;
    }

    /** {@link #waitFor(Condition, Duration)} for 30 seconds. */
    public void waitFor(Condition condition) throws Exception {
        waitFor(condition, PATIENCE);
    }

    /**
     * Waits until a condition is met, and asks every tenth of a second: for what drain does not know of, such as what another
     * program does. What the condition throws goes on to the caller.
     *
     * @throws AssertionError if it is not met within this time
     */
    public void waitFor(Condition condition, Duration timeout) throws Exception {
        Require.present("condition", condition);
        Deadline deadline = Deadline.in(MonotonicClock.system(), Require.positive("time-out", timeout));
        while (!condition.isMet()) {
            if (deadline.hasPassed()) {
                throw new AssertionError(
                        "expected the condition to be met within " + InWords.of(timeout) + ", it was not");
            }
            Thread.sleep(BETWEEN_QUESTIONS);
        }
    }

    /** {@link #drain(Duration)} within 30 seconds. */
    public void drain() {
        drain(PATIENCE);
    }

    /** See {@link Workbench#drain(Duration)}. It matters not which nodes do the work, and whether this extension started them. */
    public void drain(Duration timeout) {
        sandbox().workbench().drain(timeout);
    }

    /** Behaves as if this much time had passed, see {@link Workbench#advance}. */
    public void advance(Duration time) {
        sandbox().workbench().advance(time);
    }

    /** The stored messages of a topic, see {@link Workbench#messages}. */
    public List<OutboxMessage> messages(String topic) {
        return sandbox().workbench().messages(topic);
    }

    /** The payloads of {@link #messages}: {@code assertThat(database.payloads("mail.wanted")).containsExactly("ada")}. */
    public List<String> payloads(String topic) {
        return sandbox().workbench().payloads(topic);
    }

    /** The same, decoded by {@link PayloadCodec#standard}. */
    public <T> List<T> payloads(Topic<T> topic) {
        return sandbox().workbench().payloads(topic);
    }

    private Sandbox sandbox() {
        if (sandbox == null) {
            throw new IllegalStateException(
                    "expected to be used in a test, was used outside; is the field annotated with @RegisterExtension?");
        }
        return sandbox;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        ofClass = true;
        sandbox = sandboxOf(context, this);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        if (!ofClass) {
            sandbox = sandboxOf(classOf(context), setup);
        }
        sandbox().beginTest();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        sandbox().endTest();
    }

    private static ExtensionContext classOf(ExtensionContext context) {
        ExtensionContext found = context;
        while (found.getTestMethod().isPresent()) {
            found = found.getParent().orElseThrow();
        }
        return found;
    }

    /** JUnit closes what is in a store when the class it belongs to has ended; a nested class sees that of its outer one. */
    private Sandbox sandboxOf(ExtensionContext context, Object key) {
        ExtensionContext.Store store = context.getStore(NAMESPACE);
        Sandbox known = store.get(key, Sandbox.class);
        if (known == null) {
            known = open(context.getRequiredTestClass());
            store.put(key, known);
        }
        return known;
    }

    private Sandbox open(Class<?> test) {
        if (setup.dataSource != null) {
            return new Sandbox(setup.dataSource, () -> {}, setup.outbox, test);
        }
        HikariConfig config = new HikariConfig();
        config.setDataSource(EmbeddedPostgres.shared().dataSource());
        config.setMaximumPoolSize(20);
        config.setMinimumIdle(0);
        HikariDataSource pool = new HikariDataSource(config);
        return new Sandbox(pool, pool::close, setup.outbox, test);
    }
}
