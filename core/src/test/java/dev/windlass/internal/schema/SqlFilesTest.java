package dev.windlass.internal.schema;

import dev.windlass.Repository;
import dev.windlass.Windlass;
import dev.windlass.schema.Migrator;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** The files for people who run SQL by other means are what the migrator would run, with the default names. */
final class SqlFilesTest {
    private final Migrator migrator = Windlass.on(new PGSimpleDataSource()).migrator();

    @Test
    void theSchemaFileIsTheMigrationOfAnEmptyDatabase() throws IOException {
        Repository.holds("sql/postgresql/windlass-1.sql", migrator.fullSql());
    }

    @Test
    void theGrantsFileIsTheGrantScriptForAPlaceholder() throws IOException {
        Repository.holds(
                "sql/postgresql/grants.sql",
                "-- Replace windlass_app by the database user of your program.\n" + migrator.grants("windlass_app"));
    }

    @Test
    void theReadingGrantsFileIsTheScriptForAPlaceholder() throws IOException {
        Repository.holds(
                "sql/postgresql/grants-read.sql",
                "-- Replace windlass_monitor by the database user of your monitoring.\n"
                        + migrator.readGrants("windlass_monitor"));
    }
}
