package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.Windlass;
import dev.windlass.schedule.ListedTimer;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.TimerOperator;
import java.sql.Connection;
import java.time.Instant;
import java.util.UUID;

/** Timers that are not due, or that somebody handles, or that failed. */
final class TimerQueue extends IdQueue<TimerIdentifier, ListedTimer> {
    private static final int KEY_WIDTH = 30;

    @Override
    String word() {
        return "timers";
    }

    @Override
    String noun() {
        return "timer";
    }

    @Override
    boolean hasSources() {
        return false;
    }

    @Override
    TimerOperator operator(Windlass windlass, String who) {
        return windlass.timers().operator(who);
    }

    @Override
    TimerIdentifier name(UUID id) {
        return new TimerIdentifier(id);
    }

    @Override
    TimerIdentifier name(ListedTimer listed) {
        return listed.id();
    }

    @Override
    boolean isErased(ListedTimer listed) {
        return listed.isErased();
    }

    @Override
    boolean cancel(Windlass windlass, Connection connection, TimerIdentifier name) {
        return windlass.timers().cancel(connection, name);
    }

    @Override
    boolean reschedule(Windlass windlass, Connection connection, TimerIdentifier name, Instant dueTime) {
        return windlass.timers().reschedule(connection, name, dueTime);
    }

    @Override
    String notRequeued() {
        return "unknown, not failed, erased, or has a key that another one has by now";
    }

    @Override
    String claimed() {
        return "unknown, being handled, failed, or done";
    }

    @Override
    void refuse(OutboxSession session, TimerIdentifier name) {
        if (session.windlass().timers().find(name).isEmpty() && isMessage(session, name.value())) {
            throw TimerChoice.missing(session, name);
        }
    }

    @Override
    boolean isHandedOff() {
        return true;
    }

    @Override
    boolean knows(OutboxSession session, String topic) {
        return KnownTopic.in(session.schema().qualified("_timer"), session, topic);
    }

    @Override
    String[] heads(String time) {
        return new String[] {"ID", "TOPIC", "KEY", "DUE", "STATE", "FAILED", "LOST", "ERROR"};
    }

    @Override
    String[] cells(ListedTimer timer, Instant now) {
        return new String[] {
            timer.id().toString(),
            timer.topic(),
            timer.key()
                    .map(key -> Printable.cut(Printable.line(key), KEY_WIDTH))
                    .orElse("-"),
            Span.dated(timer.dueTime(), now),
            StateName.words(timer.status()),
            failures(timer.retryCount(), timer.status(), true),
            Integer.toString(timer.leaseExpiries()),
            timer.lastError().orElse("-")
        };
    }

    @Override
    ObjectNode json(ListedTimer listed) {
        return Json.of(listed);
    }
}
