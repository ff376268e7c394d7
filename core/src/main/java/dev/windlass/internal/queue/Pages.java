package dev.windlass.internal.queue;

import dev.windlass.internal.support.Place;
import dev.windlass.internal.support.Require;
import dev.windlass.operator.Page;
import dev.windlass.operator.PagePosition;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Lists that are read page by page. */
public final class Pages {
    private Pages() {}

    /** Where a page of this list begins. */
    public static Place after(PagePosition position, String list) {
        return Place.of(Require.present("position", position).text(), list);
    }

    /** A page of a list; if it is full, there may be another. */
    public static <M> Page<M> of(String list, List<M> shown, int limit, Function<M, Place> place) {
        return new Page<>(
                shown,
                shown.size() < limit
                        ? Optional.empty()
                        : Optional.of(new PagePosition(
                                place.apply(shown.get(shown.size() - 1)).in(list))));
    }
}
