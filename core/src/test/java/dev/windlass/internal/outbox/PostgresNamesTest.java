package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Schemas, tables and roles with names that are legal, and break out of careless SQL. */
final class PostgresNamesTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration LEASE = Duration.ofMinutes(1);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\u00dcn\u00efcode table \uD83D\uDE00",
                "with space",
                "UPPER",
                "select",
                "we\"ird",
                "it's",
                "back\\slash",
                "x\"; drop table outbox; --",
                "'); drop table outbox; --",
                "{schema}",
                "{outbox} {0}",
                "%s %n",
                "what? :is @this",
                "a.b",
                "[x]`y`",
                "{fn now()}",
                "forty_bytes_is_the_longest_name_there_is"
            })
    void aMessageLivesItsLifeInASchemaAndATableOfThisName(String name) throws SQLException {
        String quoted = new PostgresDialect().quote(name);
        WindlassBuilder owner = builder(Windlass.on(database.owner()), name);
        try {
            owner.migrator().migrate();
            execute("create role " + quoted + " login");
            execute(owner.migrator().grants(name));
            assertThat(owner.migrator().pendingSql()).isEmpty();
            try (Windlass windlass = builder(Windlass.on(as(name)), name)
                    .outboxHandler("handled", message -> {})
                    .start()) {
                live(windlass.outbox());
            }
        } finally {
            execute("drop schema if exists " + quoted + " cascade");
            execute("drop role if exists " + quoted);
        }
        assertThat(database.count("true")).isZero();
    }

    private static void live(Outbox outbox) {
        OutboxMessageIdentifier handled = outbox.enqueue(OutboxEntry.of("handled", ""));
        await().until(() -> outbox.find(handled).orElseThrow().isProcessed());
        outbox.enqueueAll(List.of(OutboxEntry.of("a", ""), OutboxEntry.of("a", ""), OutboxEntry.of("a", "")));
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxWorkItemIdentifier> ids =
                outbox.claim(owner, LEASE, 10).stream().map(OutboxMessage::id).toList();
        assertThat(outbox.heartbeat(owner, ids, LEASE)).isEqualTo(3);
        assertThat(outbox.ack(owner, ids.subList(0, 1))).isEqualTo(1);
        assertThat(outbox.abandon(owner, ids.subList(1, 2))).isEqualTo(1);
        assertThat(outbox.fail(owner, ids.subList(2, 3), "no")).isEqualTo(1);
        assertThat(outbox.reapExpired()).isZero();
    }

    @Test
    void namesThatQuotingCannotSaveAreRefused() {
        for (String name : List.of("", " ", "a$b", "a\nb", "a\0b", "a\u0085b", "x".repeat(41), "\u00fc".repeat(21))) {
            assertThatThrownBy(() -> WindlassOptions.defaults().withSchemaName(name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("expected a schema name");
            assertThatThrownBy(() -> OutboxOptions.defaults().withTableName(name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("expected a table name");
            assertThatThrownBy(() -> database.windlass().migrator().grants(name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("expected a role");
        }
    }

    /** A name that PostgreSQL cuts could meet another that was cut to the same. */
    @Test
    void noNameIsCutByTheDatabase() throws SQLException {
        String longest = "t".repeat(40);
        String sql = Windlass.on(database.owner())
                .outbox(OutboxOptions.defaults().withTableName(longest))
                .migrator()
                .fullSql();

        assertThat(sql.split("\"", -1)).allSatisfy(name -> {
            if (name.startsWith(longest)) {
                assertThat(name.length()).as(name).isLessThanOrEqualTo(63);
            }
        });
    }

    private static WindlassBuilder builder(WindlassBuilder builder, String name) {
        return builder.options(WindlassOptions.defaults().withSchemaName(name).withShutdownGrace(Duration.ofSeconds(1)))
                .outbox(OutboxOptions.defaults().withTableName(name));
    }

    private static PGSimpleDataSource as(String role) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(database.server().jdbcUrl());
        source.setUser(role);
        return source;
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = database.owner().getConnection();
                Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            statement.execute(sql);
        }
    }
}
