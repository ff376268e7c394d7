package dev.windlass.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file with a password and nothing else, as Docker, Kubernetes and systemd hand one to a program. Who else can read it is
 * their choice: inside of a container such a file is often open to all.
 */
record SecretFile(Path path) {

    /** The password, without the line break that most editors put behind it. */
    String read() {
        String content = content().replaceFirst("\\R\\z", "");
        if (content.isEmpty() || content.lines().count() > 1) {
            throw new IllegalArgumentException("expected one line with the password in file \"" + path + "\", got "
                    + (content.isEmpty() ? "none" : "several") + "; a file like ~/.pgpass is named by PGPASSFILE");
        }
        return content;
    }

    private String content() {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "expected a file with the password, cannot read \"" + path + "\" ("
                            + e.getClass().getSimpleName() + "); check its path, and that this user may read it",
                    e);
        }
    }
}
