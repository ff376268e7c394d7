package dev.windlass.internal.database;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lists of elements as arrays of their properties, which is how routines take many at once. */
public final class Columns {
    private Columns() {}

    public static <E, T extends @Nullable Object> List<T> each(Collection<E> elements, Function<E, T> property) {
        List<T> values = new ArrayList<>(elements.size());
        for (E element : elements) {
            values.add(property.apply(element));
        }
        return values;
    }

    /** The property of each, or null when none has it. */
    public static <E, T> @Nullable List<@Nullable T> optional(
            Collection<E> elements, Function<E, @Nullable T> property) {
        List<@Nullable T> values = each(elements, property);
        for (T value : values) {
            if (value != null) {
                return values;
            }
        }
        return null;
    }
}
