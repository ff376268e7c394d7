package dev.windlass.metrics;

import dev.windlass.base.QueueKind;
import java.util.HashSet;
import java.util.Set;

/**
 * The first so many topics; all others are one. A meter for each of many names would use up the memory of whoever keeps them. So would a
 * meter for each of some names in each of many stores: these are bounded, too, over all stores.
 */
final class Names {
    private static final String OTHER = "other";

    private final int most;
    private final int mostPlaces;
    private final Set<String> known = new HashSet<>();
    private final Set<Place> places = new HashSet<>();

    private record Place(String store, QueueKind queue, String topic) {}

    /**
     * @param most how many names there are
     * @param mostPlaces how many in all queues of all stores
     */
    Names(int most, int mostPlaces) {
        this.most = most;
        this.mostPlaces = mostPlaces;
    }

    String bounded(String store, QueueKind queue, String topic) {
        boolean named = known.contains(topic) || (known.size() < most && known.add(topic));
        if (!named) {
            return OTHER;
        }
        Place place = new Place(store, queue, topic);
        return places.contains(place) || (places.size() < mostPlaces && places.add(place)) ? topic : OTHER;
    }

    /** The meters of this store are gone. */
    void forget(String store) {
        places.removeIf(place -> place.store.equals(store));
    }
}
