package dev.windlass.node;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;

/** A certificate that signs itself, and its key, made by the JDK's keytool and written as a server and a client read them. */
record Certificate(java.security.cert.Certificate certificate, Key key) {
    private static final char[] PASSWORD = "only for a moment".toCharArray();
    private static final String ALIAS = "server";

    /**
     * @param names what it is good for, as keytool writes it: {@code ip:127.0.0.1}
     */
    static Certificate forNames(Path directory, String names)
            throws IOException, InterruptedException, GeneralSecurityException {
        Path store = directory.resolve("store.p12");
        Files.deleteIfExists(store);
        keytool(store, names);
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        return new Certificate(keys.getCertificate(ALIAS), keys.getKey(ALIAS, PASSWORD));
    }

    private static void keytool(Path store, String names) throws IOException, InterruptedException {
        Process keytool = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=Windlass test",
                        "-ext",
                        "SAN=" + names,
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        new String(PASSWORD)))
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) {
            throw new IllegalStateException("keytool failed: " + said);
        }
    }

    Path writeCertificate(Path file) throws IOException, GeneralSecurityException {
        return Files.writeString(file, pem("CERTIFICATE", certificate.getEncoded()));
    }

    /** Readable by its owner alone, or the server refuses it. */
    Path writeKey(Path file) throws IOException {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, pem("PRIVATE KEY", key.getEncoded()));
    }

    private static String pem(String what, byte[] content) {
        return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
                .formatted(what, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content));
    }
}
