package dev.windlass.embedded;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * As whom the server runs, because PostgreSQL refuses to run as root: the way there, and the user id that must own the
 * data ({@link #UNCHANGED} when the files are right as we create them).
 */
record Account(Way way, int uid) {

    static final int UNCHANGED = -1;

    /** The ways to start a program that is not root, in the order of preference for a root caller. */
    enum Way {
        CALLER,
        USER_NAMESPACE,
        SETPRIV,
        RUNUSER,
        SU;

        private List<String> prefix() {
            return switch (this) {
                case CALLER -> List.of();
                case USER_NAMESPACE -> List.of("unshare", "-U");
                case SETPRIV -> List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups");
                case RUNUSER -> List.of("runuser", "-u", "nobody", "--");
                case SU -> List.of("su", "-s", "/bin/sh", "-c", "exec \"$0\" \"$@\"", "--", "nobody");
            };
        }
    }

    static Account choose() {
        if (!isRoot()) {
            return new Account(Way.CALLER, UNCHANGED);
        }
        return firstAllowed(List.of(Way.USER_NAMESPACE, Way.SETPRIV, Way.RUNUSER, Way.SU));
    }

    static Account firstAllowed(List<Way> ways) {
        for (Way way : ways) {
            String uid = Command.probe(concat(way.prefix(), List.of("id", "-u")));
            if (uid.matches("[1-9][0-9]*")) {
                // In a user namespace the kernel still sees root as the owner of what the server writes.
                return new Account(way, way == Way.USER_NAMESPACE ? 0 : Integer.parseInt(uid));
            }
        }
        throw new EmbeddedPostgresException(
                "PostgreSQL does not run as root and none of unshare, setpriv, runuser and su may be used here to leave "
                        + "root; run as another user or give a database with --url");
    }

    static boolean isRoot() {
        try {
            return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return "root".equals(System.getProperty("user.name"));
        }
    }

    List<String> wrap(List<String> command) {
        return concat(way.prefix(), command);
    }

    /** Whether the server, once it runs as this account, can enter the directory. */
    boolean canEnter(Path directory) throws IOException {
        if (!isForeign()) {
            return true;
        }
        for (Path path = directory.toRealPath(); path != null; path = path.getParent()) {
            if (!Files.getPosixFilePermissions(path).contains(PosixFilePermission.OTHERS_EXECUTE) && !owns(path)) {
                return false;
            }
        }
        return true;
    }

    /** Lets the account enter the directory, which is ours, without showing it what is inside. */
    void admit(Path directory) throws IOException {
        if (isForeign()) {
            var permissions = Files.getPosixFilePermissions(directory);
            permissions.add(PosixFilePermission.OTHERS_EXECUTE);
            Files.setPosixFilePermissions(directory, permissions);
        }
    }

    /** Hands the tree to the account, unless it has it already. */
    void own(Path tree) throws IOException {
        if (uid == UNCHANGED || owns(tree)) {
            return;
        }
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.setAttribute(file, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
                return FileVisitResult.CONTINUE;
            }

            // The root of the tree changes hands last, so that an interrupted walk is done again.
            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) throws IOException {
                Files.setAttribute(directory, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private boolean owns(Path path) throws IOException {
        return Integer.valueOf(uid).equals(Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS));
    }

    /** Whether the account is another one than ours in the eyes of the file system. */
    private boolean isForeign() {
        return uid > 0;
    }

    private static List<String> concat(List<String> first, List<String> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }
}
