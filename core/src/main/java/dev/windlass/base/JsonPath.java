package dev.windlass.base;

import java.lang.reflect.Field;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The way to a value in a payload, without anything of the payload itself: a step has the name that a class gives its field. Other names, such as
 * the keys of maps, are a part of the payload, and are left out.
 */
final class JsonPath {
    private final StringBuilder steps = new StringBuilder();

    /**
     * @param from what the step begins at, or its class
     * @param name null if it is an element of a list
     */
    void step(@Nullable Object from, @Nullable String name, int index) {
        if (name == null) {
            steps.append('[').append(index).append(']');
        } else {
            steps.append(steps.isEmpty() ? "" : ".").append(isOfClass(from, name) ? name : "?");
        }
    }

    private static boolean isOfClass(@Nullable Object from, String name) {
        Class<?> type = from == null || from instanceof Class<?> ? (Class<?>) from : from.getClass();
        for (; type != null && type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (plain(field.getName()).equals(plain(name))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Mappers write the names of fields in several ways. */
    private static String plain(String name) {
        return name.replace("_", "").replace("-", "").toLowerCase(Locale.ROOT);
    }

    /** As errors have it; empty if there is no step. */
    @Override
    public String toString() {
        return steps.isEmpty() ? "" : " at " + steps;
    }
}
