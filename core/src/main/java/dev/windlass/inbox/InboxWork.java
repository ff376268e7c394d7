package dev.windlass.inbox;

import java.sql.Connection;

/** The work a message asks for, in a transaction that also marks the message as processed. */
@FunctionalInterface
public interface InboxWork {

    /** Must neither commit nor roll back nor close the connection. */
    void run(Connection connection) throws Exception;
}
