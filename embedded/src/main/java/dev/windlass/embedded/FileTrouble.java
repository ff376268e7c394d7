package dev.windlass.embedded;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Says what is wrong with a file: Java's exceptions often hold no more than its name. */
final class FileTrouble {

    private FileTrouble() {}

    static String describe(Exception e) {
        if (e instanceof AccessDeniedException denied) {
            return "no permission to use " + denied.getFile() + "; change its rights, or give another directory";
        }
        if (e instanceof NoSuchFileException missing) {
            return missing.getFile() + " is not there, and cannot be made; give another directory";
        }
        if (e instanceof FileAlreadyExistsException file) {
            return file.getFile() + " is a file, not a directory; give another directory";
        }
        return e instanceof FileSystemException other && other.getReason() != null
                ? other.getFile() + ": " + other.getReason() + "; give another directory"
                : e.toString();
    }
}
