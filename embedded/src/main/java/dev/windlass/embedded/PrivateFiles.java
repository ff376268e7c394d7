package dev.windlass.embedded;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Files and directories that only their owner may read, written so that a crash leaves the old or the new content. */
final class PrivateFiles {

    private static final Logger log = LoggerFactory.getLogger(PrivateFiles.class);

    private static final Duration DELETE_TIMEOUT = Duration.ofSeconds(5);

    static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

    private PrivateFiles() {}

    static Path createDirectories(Path directory) throws IOException {
        return Files.createDirectories(directory, only("rwx------"));
    }

    static void write(Path file, String content) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(fresh);
        var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try (FileChannel channel = FileChannel.open(fresh, options, only("rw-------"))) {
            channel.write(ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8)));
            channel.force(true);
        }
        move(fresh, file);
    }

    /** Renames for good: the new name is on disk when this returns. */
    static void move(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        Path parent = to.toAbsolutePath().getParent();
        if (POSIX && parent != null) {
            try (FileChannel directory = FileChannel.open(parent, StandardOpenOption.READ)) {
                directory.force(true);
            }
        }
    }

    /** Deletes what is there, more than once if need be: a program that is just ending may still write or hold files. */
    static void deleteTree(Path tree) {
        if (!Await.until(DELETE_TIMEOUT, () -> isDeleted(tree))) {
            log.warn("could not delete {}", tree);
        }
    }

    private static boolean isDeleted(Path tree) {
        try {
            if (Files.exists(tree)) {
                deleteAll(tree);
            }
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static void deleteAll(Path tree) throws IOException {
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) throws IOException {
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static FileAttribute<?>[] only(String permissions) {
        return POSIX
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }
}
