package dev.windlass.internal.queue;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

/** A store that can write a message as claimed by the node that writes it. */
public interface KeepingStore<M> extends WorkStore<M> {

    /** Those of these messages that this owner holds. */
    List<Claimed<M>> kept(Connection connection, UUID owner, List<UUID> ids) throws SQLException;
}
