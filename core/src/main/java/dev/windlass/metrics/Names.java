package dev.windlass.metrics;

import java.util.HashSet;
import java.util.Set;

/** The first so many names; all others are one. A meter for each of many names would use up the memory of whoever keeps them. */
final class Names {
    private static final String OTHER = "other";

    private final int most;
    private final Set<String> known = new HashSet<>();

    Names(int most) {
        this.most = most;
    }

    String bounded(String name) {
        return known.contains(name) || (known.size() < most && known.add(name)) ? name : OTHER;
    }
}
