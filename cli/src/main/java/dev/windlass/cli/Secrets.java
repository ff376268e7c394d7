package dev.windlass.cli;

import java.util.regex.Pattern;

/** Takes passwords out of texts that are printed: URLs, and errors that may quote one. */
final class Secrets {
    private static final Pattern PARAMETER = Pattern.compile(
            "(?i)([\\w.-]*(?:password|passwd|secret)\\w*=)(?:'(?:[^'\\\\]|\\\\.)*'|[^&;\\s]*?(?=:?(?:[&;\\s]|$)))");
    private static final Pattern USER_INFO = Pattern.compile("(//[^/:@\\s]*:)[^/\\s]*@");

    /** Passwords can hold slashes and question marks; what begins like a port is none, as in //host:5432/db?user=me@corp. */
    private static final Pattern LONG_USER_INFO = Pattern.compile("(//[^/:@\\s]*:)(?!\\d{1,5}[/,?])[^\\s]*@");

    /** The driver takes all before the path for the name of the host. */
    private static final Pattern UNKNOWN_HOST = Pattern.compile("(UnknownHostException: [^:@\\s]*:)[^\\s]*@");

    private Secrets() {}

    static String mask(String text) {
        String withoutParameters = PARAMETER.matcher(text).replaceAll("$1****");
        String shorter = USER_INFO.matcher(withoutParameters).replaceAll("$1****@");
        String without = LONG_USER_INFO.matcher(shorter).replaceAll("$1****@");
        return UNKNOWN_HOST.matcher(without).replaceAll("$1****@");
    }
}
