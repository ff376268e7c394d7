package dev.windlass.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.postgresql.Driver;

/**
 * The file of passwords that PostgreSQL's own programs read. Here it is decided whether it may be used, as they decide it; the
 * driver, which would also take one that everybody can read, then finds the line.
 *
 * @param path need not exist
 */
record PasswordFile(Path path) {
    private static final String DRIVERS_PROPERTY = "org.postgresql.pgpassfile";
    private static final String NONE = "/dev/null";
    private static final Set<PosixFilePermission> OWNERS_ALONE = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    /** Keeps the driver from reading such a file by itself, whatever this process finds around it. */
    static void hide() {
        System.setProperty(DRIVERS_PROPERTY, NONE);
    }

    /** Why it is not used, if it is there and may not be. */
    Optional<String> refusal() {
        if (!Files.exists(path)) {
            return Optional.empty();
        }
        if (!Files.isRegularFile(path)) {
            return Optional.of("password file \"" + path + "\" is not a plain file, and is not used");
        }
        return isOpenToOthers()
                ? Optional.of("password file \"" + path
                        + "\" can be used by others than its owner, and is not used; run: chmod 600 " + path)
                : Optional.empty();
    }

    boolean isOpenToOthers() {
        try {
            return !OWNERS_ALONE.containsAll(Files.getPosixFilePermissions(path));
        } catch (UnsupportedOperationException withoutSuchRights) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    Optional<String> password(String url, String user) {
        System.setProperty(DRIVERS_PROPERTY, path.toString());
        try {
            Properties login = new Properties();
            login.setProperty("user", user);
            return Optional.ofNullable(Driver.parseURL(url, login)).map(parsed -> parsed.getProperty("password"));
        } finally {
            hide();
        }
    }
}
