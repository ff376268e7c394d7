package dev.windlass.cli;

import java.util.regex.Pattern;

/** Takes passwords out of texts that are printed: URLs, and errors that may quote one. */
final class Secrets {
    private static final Pattern PARAMETER =
            Pattern.compile("(?i)([\\w.-]*(?:password|passwd|secret)\\w*=)[^&;\\s]*?(?=:?(?:[&;\\s]|$))");
    private static final Pattern USER_INFO = Pattern.compile("(//[^/:@\\s]*:)[^/\\s]*@");

    private Secrets() {}

    static String mask(String text) {
        String withoutParameters = PARAMETER.matcher(text).replaceAll("$1****");
        return USER_INFO.matcher(withoutParameters).replaceAll("$1****@");
    }
}
