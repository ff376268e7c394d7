package dev.windlass.spring.test;

import dev.windlass.spring.CronJob;
import dev.windlass.spring.OnOutbox;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.stereotype.Component;

@Component
class Mails {
    final List<String> sent = new CopyOnWriteArrayList<>();

    @OnOutbox("order.placed")
    void send(String order) {
        sent.add(order);
    }

    @CronJob(name = "report", cron = "0 2 * * *")
    void report() {
        sent.add("report");
    }

    @OnOutbox("reminder.due")
    void remind(String order) {
        sent.add("pay " + order);
    }
}
