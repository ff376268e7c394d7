package dev.windlass.inbox;

import dev.windlass.internal.support.Require;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The SHA-256 of a message's content: tells a second delivery from another message under the same key.
 *
 * @param hex 64 hexadecimal digits, in small letters
 */
public record ContentHash(String hex) {
    private static final Pattern FORM = Pattern.compile("[0-9a-f]{64}");

    public ContentHash {
        if (!FORM.matcher(Require.present("hash", hex)).matches()) {
            throw new IllegalArgumentException(
                    "expected a hash of 64 hexadecimal digits in small letters, got " + hex.length() + " characters");
        }
    }

    /** Of a text, in UTF-8. */
    public static ContentHash of(String content) {
        return of(Require.present("content", content).getBytes(StandardCharsets.UTF_8));
    }

    public static ContentHash of(byte[] content) {
        Require.present("content", content);
        try {
            return new ContentHash(HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(content)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
