package dev.windlass.schema;

import java.sql.SQLException;

/**
 * Applies what is newer than the database, under a lock, all or nothing.
 *
 * <p>Running it again changes nothing. Several may run at once; one works, the others then find nothing to do. It needs a
 * database user that may create tables; programs that only run Windlass need no more than {@link #grants}.
 */
public interface Migrator {

    /** Brings the schema up to date. */
    void migrate();

    /** The SQL that {@link #migrate} would run on this database now; empty when there is nothing to do. */
    String pendingSql();

    /** The whole SQL for an empty database, for people who run it by other means. */
    String fullSql();

    /** The SQL that brings a database of this version up to date, for people who run it by other means. */
    String upgradeSql(int from);

    /** What a database user needs to run Windlass, and no more. Run it as the owner of the schema. */
    String grants(String role);

    /**
     * What a database user needs who only looks, as a monitor does: it can change nothing, and sees no payloads and no headers. Run it as
     * the owner of the schema.
     */
    String readGrants(String role);

    /**
     * Makes sure that this program can work with the database as it is.
     *
     * @throws SchemaException if it cannot
     */
    void check() throws SQLException;
}
