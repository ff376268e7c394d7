package dev.windlass.operator;

import dev.windlass.internal.support.Require;
import java.util.AbstractList;
import java.util.List;
import java.util.Optional;

/** A page of a list: what it shows, and where the next page begins. It cannot be changed. */
public final class Page<M> extends AbstractList<M> {
    private final List<M> shown;
    private final Optional<PagePosition> next;

    public Page(List<? extends M> shown, Optional<PagePosition> next) {
        this.shown = List.copyOf(Require.elements("what a page shows", shown));
        this.next = Require.present("position or none", next);
    }

    /** Where the next page begins; empty if this one is not full, and so is the last. A full page may be the last one too. */
    public Optional<PagePosition> next() {
        return next;
    }

    @Override
    public M get(int index) {
        return shown.get(index);
    }

    @Override
    public int size() {
        return shown.size();
    }
}
