package dev.windlass.example.orders;

import dev.windlass.schedule.Overlap;
import dev.windlass.spring.CronJob;
import java.time.OffsetDateTime;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A report that is written once for each tick, however many nodes there are. */
@RestController
class Reports {
    private final JdbcClient jdbc;

    Reports(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    record Report(OffsetDateTime writtenAt, int orders, int unpaid) {}

    // tag::job
    @CronJob(
            name = "orders.report",
            cron = "${orders.report.cron}",
            zone = "${orders.report.zone}",
            overlap = Overlap.SKIP)
    void write() {
        jdbc.sql("insert into reports (orders, unpaid) select count(*), count(*) filter (where not paid) from orders")
                .update();
    }
    // end::job

    @GetMapping("/reports")
    List<Report> newest() {
        return jdbc.sql("select written_at, orders, unpaid from reports order by written_at desc limit 10")
                .query(Report.class)
                .list();
    }
}
