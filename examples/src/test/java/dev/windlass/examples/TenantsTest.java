package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

final class TenantsTest {

    /** Databases are the server's, which other tests use, too. */
    @AfterAll
    static void drop() throws SQLException {
        for (int i = 1; i <= 51; i++) {
            Run.execute("drop database if exists \"tenant-" + i + "\" with (force)");
        }
        Run.execute("drop database if exists tenant_template with (force)");
    }

    @Test
    void fiftyTenantsAreServedAndOneComesAndOneLeaves() throws Exception {
        List<String> printed = Run.example(Tenants::main);
        assertThat(printed).hasSize(6);
        assertThat(printed.get(2))
                .matches("50 orders were invoiced and 50 payments asked for, over (1?[0-9]|2[0-4]) connections");
        assertThat(printed)
                .contains(
                        "50 tenants have a database each",
                        "50 stores are open",
                        "closed the day of tenant-7",
                        "tenant-51 came, and its first order was invoiced",
                        "tenant-1 left, and 50 stores are open");
        assertThat(Run.text("select count(*) from tenants")).isEqualTo("50");
        assertThat(Run.text("select count(*) from pg_database where datname like 'tenant-%'"))
                .isEqualTo("50");
        assertThat(Run.text("tenant-51", "select string_agg(order_id, ',') from invoices"))
                .isEqualTo("order-1");
        assertThat(Run.text("tenant-50", "select string_agg(topic || status, ',' order by topic) from windlass.outbox"))
                .isEqualTo("order.placed2,payment.due2");
        assertThat(Run.text("tenant-7", "select count(*) from windlass.outbox_job_run where status = 2"))
                .isEqualTo("1");
    }
}
