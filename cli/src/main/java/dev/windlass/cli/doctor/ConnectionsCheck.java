package dev.windlass.cli.doctor;

import java.sql.SQLException;

/** Whether there is room for more connections. */
final class ConnectionsCheck implements Check {
    private static final double MANY = 0.8;
    private static final double NEARLY_ALL = 0.95;

    private static final String SQL = """
            select (select sum(d.numbackends) from pg_stat_database d),
                   current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer""";

    @Override
    public String name() {
        return "connections";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        int[] numbers = patient.one(SQL, row -> new int[] {row.getInt(1), row.getInt(2)});
        double used = (double) numbers[0] / Math.max(1, numbers[1]);
        String said = "%d of %d connections are used".formatted(numbers[0], numbers[1]);
        String remedy = "Make the pools of programs smaller, put a pooler between, or raise max_connections.";
        if (used >= NEARLY_ALL) {
            findings.problem(said, remedy);
        } else if (used >= MANY) {
            findings.warning(said, remedy);
        } else {
            findings.ok(said);
        }
    }
}
