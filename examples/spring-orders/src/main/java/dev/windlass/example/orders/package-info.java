/**
 * An order service, to copy from: each class shows one thing that Windlass does for a Spring Boot application.
 *
 * <p>{@link dev.windlass.example.orders.OrderService} writes orders and what follows from them, {@link dev.windlass.example.orders.Mails}
 * handles that, {@link dev.windlass.example.orders.Payments} takes what may be delivered twice, {@link dev.windlass.example.orders.Invoices} has
 * work that takes a while, {@link dev.windlass.example.orders.Reports} a cron job, {@link dev.windlass.example.orders.Housekeeping} a lease.
 */
@NullMarked
package dev.windlass.example.orders;

import org.jspecify.annotations.NullMarked;
