package dev.windlass.cli;

import picocli.CommandLine.Option;

/** The word before something that cannot be undone. */
final class YesOption {

    @Option(names = "--yes", description = "Do it without asking; needed where there is no terminal.")
    private boolean yes;

    /** Refused before anything is looked at: a script would wait for an answer that cannot come. */
    void requireAWayToAsk(OutboxAccess access) {
        if (!yes && !access.terminal().isThere()) {
            throw access.wrongUse("expected --yes, since this cannot be undone and there is no terminal to ask on");
        }
    }

    boolean isGiven(OutboxAccess access, String question) {
        return yes || access.terminal().confirms(question);
    }
}
