package dev.windlass.internal.schema;

import java.nio.charset.StandardCharsets;
import java.util.UUID;

/** The name of the channel on which nodes wake each other for one table. */
public final class Channel {
    private static final int MAX_BYTES = 63;

    private Channel() {}

    public static String of(String schema, String table) {
        byte[] name = ("windlass." + schema + "." + table).getBytes(StandardCharsets.UTF_8);
        return name.length <= MAX_BYTES
                ? new String(name, StandardCharsets.UTF_8)
                : "windlass." + UUID.nameUUIDFromBytes(name);
    }
}
