package dev.windlass;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.SQLException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All that an exception can tell whoever prints it, its causes, its suppressed and its next ones. */
public final class Told {
    private final StringWriter words = new StringWriter();
    private final Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());

    private Told() {}

    public static String by(Throwable thrown) {
        Told told = new Told();
        told.add(thrown);
        return told.words.toString();
    }

    private void add(@Nullable Throwable thrown) {
        if (thrown == null || !seen.add(thrown)) {
            return;
        }
        words.append(thrown + "\n" + thrown.getMessage() + "\n");
        thrown.printStackTrace(new PrintWriter(words, true));
        add(thrown.getCause());
        for (Throwable suppressed : thrown.getSuppressed()) {
            add(suppressed);
        }
        if (thrown instanceof SQLException e) {
            add(e.getNextException());
        }
    }
}
