package dev.windlass.cli;

import dev.windlass.internal.support.Require;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** Who is acting. */
final class ActorOption {
    private static final int MOST = 255;

    @Option(
            names = "--as",
            paramLabel = "NAME",
            converter = Name.class,
            description = "Who is acting, for the record (default: your user name @ this host).")
    private @Nullable String name;

    String name() {
        return name != null ? name : Printable.cut(System.getProperty("user.name") + "@" + host(), MOST);
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }

    private static final class Name implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> Require.text("name", value, MOST), value);
        }
    }
}
