package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import java.util.Collection;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

/**
 * Something an operator does to what has failed.
 *
 * @param misfits what may be the matter with ids that did not fit
 * @param fits whether one of a list would be changed
 */
record FailedChange<I, L>(
        String verb,
        String participle,
        String misfits,
        Predicate<L> fits,
        ToIntFunction<Collection<I>> named,
        ToIntFunction<MessageFilter> filtered) {}
