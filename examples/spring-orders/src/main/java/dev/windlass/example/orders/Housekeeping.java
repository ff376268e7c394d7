package dev.windlass.example.orders;

import dev.windlass.spring.UnderLease;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Every node's scheduler calls it; the node that gets the lease does it. */
@Component
class Housekeeping {
    private static final Logger log = LoggerFactory.getLogger(Housekeeping.class);

    private final Mails mails;
    private final OrdersProperties properties;

    Housekeeping(Mails mails, OrdersProperties properties) {
        this.mails = mails;
        this.properties = properties;
    }

    // tag::lease
    @Scheduled(fixedDelayString = "${orders.clean-every:1h}")
    @UnderLease("orders.clean-mails")
    void deleteOldMails() {
        int deleted = mails.deleteOlderThan(properties.keepMails());
        log.info("{} old mails deleted", deleted);
    }
    // end::lease
}
