package dev.windlass.cli;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Map;

/** How this program was called, so that it can be called again from another terminal. */
final class Invocation {

    private Invocation() {}

    /** The script says so in a variable; without it, it was Java. */
    static String words(Map<String, String> environment) {
        String script = environment.getOrDefault("WINDLASS_COMMAND", "");
        return script.isEmpty() ? java() : OutboxAccess.quoted(script);
    }

    private static String java() {
        String place = place();
        return place.endsWith(".jar")
                ? "java -jar " + OutboxAccess.quoted(place)
                : "java -cp " + OutboxAccess.quoted(System.getProperty("java.class.path")) + " " + Main.class.getName();
    }

    private static String place() {
        try {
            return Path.of(Main.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            return "";
        }
    }
}
