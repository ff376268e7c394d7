package dev.windlass.example.orders;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param remindAfter how long after an order its customer is reminded to pay
 * @param pageTakes how long it takes to print a page of an invoice
 * @param keepMails how long mails are kept
 */
@ConfigurationProperties("orders")
record OrdersProperties(
        @DefaultValue("3d") Duration remindAfter,
        @DefaultValue("100ms") Duration pageTakes,
        @DefaultValue("30d") Duration keepMails) {}
