package dev.windlass.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/** Unpacks a .txz archive with its file modes and links, and refuses whatever would land outside of the target. */
final class Archive {

    private static final int OWNER_EXECUTE = 0b001_000_000;

    private Archive() {}

    static void unpack(InputStream txz, Path target) throws IOException {
        try (var tar = new TarArchiveInputStream(new XZInputStream(new BufferedInputStream(txz)))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                write(tar, entry, target);
            }
        }
        openDirectories(target);
    }

    private static void write(TarArchiveInputStream tar, TarArchiveEntry entry, Path target) throws IOException {
        Path path = inside(target, target.resolve(entry.getName()), entry);
        if (entry.isDirectory()) {
            Files.createDirectories(path);
            return;
        }
        createParent(target, path, entry);
        if (entry.isSymbolicLink()) {
            inside(target, parent(path).resolve(entry.getLinkName()), entry);
            Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
        } else if (entry.isLink()) {
            Files.createLink(path, inside(target, target.resolve(entry.getLinkName()), entry));
        } else {
            Files.copy(tar, path);
            mode(path, entry);
        }
    }

    private static Path inside(Path target, Path path, TarArchiveEntry entry) throws IOException {
        Path normal = path.normalize();
        if (!normal.startsWith(target.normalize())) {
            throw new IOException("refused the archive entry %s%s: it leaves the directory %s"
                    .formatted(
                            entry.getName(),
                            entry.getLinkName().isEmpty() ? "" : " -> " + entry.getLinkName(),
                            target));
        }
        return normal;
    }

    /** Looks at the real directory as well: a link inside of the archive may have moved it. */
    private static void createParent(Path target, Path path, TarArchiveEntry entry) throws IOException {
        Path parent = Files.createDirectories(parent(path));
        inside(target.toRealPath(), parent.toRealPath(), entry);
    }

    private static Path parent(Path path) throws IOException {
        Path parent = path.getParent();
        if (parent == null) {
            throw new IOException("refused the archive entry " + path + ": it has no parent directory");
        }
        return parent;
    }

    private static void mode(Path file, TarArchiveEntry entry) throws IOException {
        open(file, (entry.getMode() & OWNER_EXECUTE) != 0);
    }

    private static void openDirectories(Path target) throws IOException {
        try (Stream<Path> all = Files.walk(target)) {
            for (Path directory : (Iterable<Path>) all.filter(Archive::isDirectory)::iterator) {
                open(directory, true);
            }
        }
    }

    private static boolean isDirectory(Path path) {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    /** Readable by all whatever the umask says: a root caller runs the server as another user. */
    private static void open(Path path, boolean executable) throws IOException {
        if (PrivateFiles.POSIX) {
            Files.setPosixFilePermissions(
                    path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
        }
    }
}
