package dev.windlass.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The unpacked server programs, kept in a cache that all JVMs of this user share, each archive in a place of its own.
 *
 * @param version PostgreSQL's major version
 */
record Binaries(Path home, int version) {

    private static final Logger log = LoggerFactory.getLogger(Binaries.class);

    private static final Pattern VERSION = Pattern.compile("postgres \\(PostgreSQL\\) (\\d+).*");

    static Binaries unpacked(Account account) throws IOException {
        return unpacked(Platform.current().archive(), cache(account));
    }

    /** Unpacks next to the final place and renames: whoever comes second throws its own copy away. */
    static Binaries unpacked(URL archive, Path cache) throws IOException {
        Path home = cache.resolve("postgresql-" + fingerprint(archive));
        if (!Files.exists(home)) {
            unpack(archive, cache, home);
        }
        return new Binaries(home, version(home));
    }

    private static void unpack(URL archive, Path cache, Path home) throws IOException {
        Path fresh = Files.createTempDirectory(cache, "unpacking-");
        try (InputStream txz = archive.openStream()) {
            Archive.unpack(txz, fresh);
            publish(fresh, home);
        } finally {
            PrivateFiles.deleteTree(fresh);
        }
    }

    Path program(String name) {
        return program(home, name);
    }

    private static Path program(Path home, String name) {
        return home.resolve("bin").resolve(Platform.isWindows() ? name + ".exe" : name);
    }

    private static int version(Path home) {
        String answer = Command.probe(List.of(program(home, "postgres").toString(), "--version"));
        Matcher matcher = VERSION.matcher(answer);
        if (!matcher.matches()) {
            throw new EmbeddedPostgresException(
                    "expected the programs in %s to tell their version, got \"%s\"; delete that directory to have them unpacked again"
                            .formatted(home, answer));
        }
        return Integer.parseInt(matcher.group(1));
    }

    private static void publish(Path fresh, Path home) throws IOException {
        try {
            Files.move(fresh, home, StandardCopyOption.ATOMIC_MOVE);
            log.info("unpacked PostgreSQL into {}", home);
        } catch (IOException e) {
            if (!Files.exists(home)) {
                throw e;
            }
        }
    }

    /** The checksum as the jar has it: reading 15 MB to hash them would cost every start. */
    private static String fingerprint(URL archive) throws IOException {
        String name = archive.getPath().replaceAll(".*/postgres-|\\.txz$", "");
        return archive.openConnection() instanceof JarURLConnection jar
                ? "%s-%08x".formatted(name, jar.getJarEntry().getCrc())
                : "%s-%08x".formatted(name, checksum(archive));
    }

    private static long checksum(URL archive) throws IOException {
        CRC32 checksum = new CRC32();
        try (InputStream content = new CheckedInputStream(archive.openStream(), checksum)) {
            content.transferTo(OutputStream.nullOutputStream());
        }
        return checksum.getValue();
    }

    private static Path cache(Account account) throws IOException {
        Path home = Path.of(System.getProperty("user.home"), ".cache", "windlass");
        if (usable(home, account)) {
            return home;
        }
        Path shared = Path.of(System.getProperty("java.io.tmpdir"), "windlass-" + System.getProperty("user.name"));
        if (usable(shared, account)) {
            return shared;
        }
        throw new EmbeddedPostgresException(
                "expected %s or %s to be a directory of this user that nobody else can write to; remove it or set -Djava.io.tmpdir"
                        .formatted(home, shared));
    }

    private static boolean usable(Path cache, Account account) {
        try {
            PrivateFiles.createDirectories(cache);
            account.admit(cache);
            return cache.isAbsolute() && isOurs(cache) && account.canEnter(cache);
        } catch (IOException e) {
            return false;
        }
    }

    /** A cache that somebody else prepared under /tmp would have us run their programs. */
    private static boolean isOurs(Path cache) throws IOException {
        Path probe = Files.createTempFile(cache, "probe-", "");
        try {
            return Files.getOwner(probe).equals(Files.getOwner(cache)) && !isWritableByOthers(cache);
        } finally {
            Files.delete(probe);
        }
    }

    private static boolean isWritableByOthers(Path cache) throws IOException {
        if (!PrivateFiles.POSIX) {
            return false;
        }
        var permissions = Files.getPosixFilePermissions(cache);
        return permissions.contains(PosixFilePermission.GROUP_WRITE)
                || permissions.contains(PosixFilePermission.OTHERS_WRITE);
    }
}
