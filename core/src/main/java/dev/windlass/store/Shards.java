package dev.windlass.store;

import dev.windlass.internal.support.Require;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Spreads keys over stores by consistent hashing: the same key always gets the same store, and a store that is added takes about its
 * share of the keys from the others, and no key goes from one of the others to another.
 *
 * <p>Where a key lies depends on the identifiers of the stores alone: not on their order, nor on the process or its version.
 */
public final class Shards implements UnaryOperator<String> {
    private static final int POINTS = 160;

    private final TreeMap<Long, String> ring = new TreeMap<>();

    private Shards() {}

    /** Over the stores with these identifiers; the same list on every node, or they disagree. */
    public static Shards over(Collection<String> storeIds) {
        Set<String> ids = new HashSet<>(Require.elements("identifiers of stores", storeIds));
        if (ids.isEmpty() || ids.size() < storeIds.size()) {
            throw new IllegalArgumentException("expected one or more different identifiers of stores, got " + storeIds);
        }
        Shards shards = new Shards();
        for (String id : ids.stream().sorted().toList()) {
            for (int point = 0; point < POINTS; point++) {
                shards.ring.putIfAbsent(hash(id + "#" + point), id);
            }
        }
        return shards;
    }

    /** The identifier of the store for a key. */
    @Override
    public String apply(String key) {
        Map.Entry<Long, String> next = ring.ceilingEntry(hash(Require.present("key", key)));
        return next == null ? ring.firstEntry().getValue() : next.getValue();
    }

    private static long hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            long hash = 0;
            for (int i = 0; i < Long.BYTES; i++) {
                hash = (hash << Byte.SIZE) | (digest[i] & 0xff);
            }
            return hash;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
