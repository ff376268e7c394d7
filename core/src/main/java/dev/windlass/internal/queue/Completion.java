package dev.windlass.internal.queue;

import dev.windlass.base.WindlassException;
import dev.windlass.internal.database.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/** A verb on what a program has claimed itself: repeated after transient errors, and for what others have locked. */
final class Completion {
    private static final long PATIENCE_NANOS = Duration.ofSeconds(2).toNanos();
    private static final Duration PAUSE = Duration.ofMillis(20);

    private Completion() {}

    /** Something that is done to all items in one call. */
    @FunctionalInterface
    interface Verb<T> {
        WorkStore.Answer run(Connection connection, List<T> items) throws SQLException;
    }

    /**
     * Returns how many were changed.
     *
     * @throws WindlassException if some stay locked by somebody else: it is not known what becomes of these
     */
    static <T> int of(Database database, String verb, String noun, List<T> items, Function<T, UUID> id, Verb<T> run) {
        long start = System.nanoTime();
        int changed = 0;
        for (List<T> left = items; !left.isEmpty(); ) {
            List<T> now = left;
            WorkStore.Answer answer =
                    database.alone(verb + " " + now.size() + " " + noun + "s", connection -> run.run(connection, now));
            changed += answer.changed();
            left = new ArrayList<>(now);
            left.removeIf(item -> !answer.locked().contains(id.apply(item)));
            if (!left.isEmpty()) {
                pause(database, verb, left.size() + " " + noun + "s", start);
            }
        }
        return changed;
    }

    /** Gives back all that an owner holds. Returns how many. */
    static int giveBack(Database database, String noun, UUID owner, QueueStore<?> store) {
        long start = System.nanoTime();
        for (int given = 0; ; ) {
            WorkStore.GivenBack back =
                    database.alone("release " + noun + "s", connection -> store.giveBack(connection, owner, null));
            given += back.given();
            if (back.leftLocked() == 0) {
                return given;
            }
            pause(database, "release", back.leftLocked() + " " + noun + "s", start);
        }
    }

    private static void pause(Database database, String verb, String locked, long start) {
        if (System.nanoTime() - start > PATIENCE_NANOS) {
            throw locked(database, verb, locked);
        }
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw locked(database, verb, locked);
        }
    }

    private static WindlassException locked(Database database, String verb, String those) {
        return new WindlassException("[" + database.name() + "] could not " + verb + " " + those
                + ", because another transaction keeps them locked; the others are done, try these again");
    }
}
