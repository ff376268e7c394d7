package dev.windlass.testkit;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The tables of a schema, as the catalog knows them, so that tables of later versions are covered by themselves. Not what speaks
 * of the nodes: when they last looked after a queue is not moved back, or they would take the jump for an outage and leave
 * leases alone.
 */
final class Tables {
    private static final String QUERY = """
            select format('%I.%I', n.nspname, c.relname) as name,
                   c.relname as plain_name,
                   array(select quote_ident(a.attname)
                           from pg_attribute a
                           join pg_type t on t.oid = a.atttypid
                          where a.attrelid = c.oid
                            and coalesce(nullif(t.typbasetype, 0), t.oid) = 'timestamptz'::regtype
                            and a.attnum > 0
                            and not a.attisdropped
                            and a.attgenerated = ''
                          order by a.attnum) as instants
              from pg_class c
              join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = ?
               and c.relkind in ('r', 'p')
               and not c.relispartition
               and c.relname not in ('windlass_version', 'windlass_watch')
             order by c.relname""";

    /**
     * What stands in no file has no rows. A partitioned table has no file of its own. Tables with a foreign key are always
     * named: PostgreSQL empties what they refer to only together with them.
     */
    private static final String USED = """
            select format('%I.%I', n.nspname, c.relname) as name
              from pg_class c
              join pg_namespace n on n.oid = c.relnamespace
             where c.oid = any (?::regclass[])
               and (pg_relation_size(c.oid) > 0
                    or c.relkind = 'p'
                    or exists (select from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'))""";

    private final List<Table> tables = new ArrayList<>();

    private record Table(String name, String plainName, List<String> instants) {}

    private Tables() {}

    static Tables of(Connection connection, String schema) throws SQLException {
        Tables found = new Tables();
        try (PreparedStatement statement = connection.prepareStatement(QUERY)) {
            statement.setString(1, schema);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String[] instants = (String[]) row.getArray("instants").getArray();
                    found.tables.add(new Table(row.getString("name"), row.getString("plain_name"), List.of(instants)));
                }
            }
        }
        return found;
    }

    /**
     * Truncates only those that were written to: a table gets new files for itself and its indexes, filled or not, and all of
     * them together take the server 16 ms, where a look takes one. All are locked before the look, so that nobody writes
     * behind it, and a transaction that is open still is waited for, whatever it did.
     */
    void empty(Connection connection) throws SQLException {
        Sql.execute(connection, "lock table " + names());
        List<String> used = used(connection);
        if (!used.isEmpty()) {
            Sql.execute(connection, "truncate " + String.join(", ", used));
        }
    }

    private List<String> used(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(USED)) {
            statement.setObject(1, tables.stream().map(Table::name).toArray(String[]::new));
            List<String> used = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    used.add(row.getString("name"));
                }
            }
            return used;
        }
    }

    /** All but these. */
    Tables without(Set<String> names) {
        Tables rest = new Tables();
        tables.stream().filter(table -> !names.contains(table.plainName)).forEach(rest.tables::add);
        return rest;
    }

    /**
     * Moves all instants back. Nobody writes meanwhile, so that batches of the nodes, which lock in an order of their own,
     * cannot deadlock with this.
     */
    void moveBack(Connection connection, Duration time) throws SQLException {
        Sql.execute(connection, "lock table " + names() + " in exclusive mode");
        // What is about to become ready is stamped after the transaction has its number: claimers rely on that.
        Sql.execute(connection, "select pg_current_xact_id()");
        for (Table table : tables) {
            if (!table.instants.isEmpty()) {
                Sql.execute(connection, "update " + table.name + " set " + movedBack(table.instants, time));
            }
        }
    }

    private String names() {
        return tables.stream().map(Table::name).collect(Collectors.joining(", "));
    }

    private static String movedBack(List<String> columns, Duration time) {
        String interval =
                String.format(Locale.ROOT, "interval '%d.%06d seconds'", time.toSeconds(), time.toNanosPart() / 1000);
        return columns.stream()
                .map(column -> column + " = " + movedBack(column, interval))
                .collect(Collectors.joining(", "));
    }

    /**
     * What becomes due by this becomes due now, and not some time ago: nodes remember up to which time they have seen
     * everything, and would look behind it only every ten seconds.
     */
    private static String movedBack(String column, String interval) {
        return column.equals("next_attempt_at")
                ? "greatest(next_attempt_at - " + interval + ", least(next_attempt_at, clock_timestamp()))"
                : column + " - " + interval;
    }
}
