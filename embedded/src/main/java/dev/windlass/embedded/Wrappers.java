package dev.windlass.embedded;

import java.util.ArrayList;
import java.util.List;

/** Programs of the system that the server is started through, each only where it is there and works. */
final class Wrappers {

    /** A session of its own: Ctrl-C in a terminal goes to the whole process group and would stop the server first. */
    static final List<String> SESSION = ifWorking("setsid");

    /** Fast shutdown at the moment the parent dies, so that a killed JVM leaves no server behind. */
    static final List<String> DEATH_SIGNAL = ifWorking("setpriv", "--pdeathsig", "INT");

    private Wrappers() {}

    private static List<String> ifWorking(String... prefix) {
        List<String> command = new ArrayList<>(List.of(prefix));
        command.addAll(List.of("echo", "works"));
        return Command.probe(command).equals("works") ? List.of(prefix) : List.of();
    }
}
