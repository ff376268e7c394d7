package dev.windlass.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Commands to paste into another terminal.
 *
 * @param variables what they need to find the database
 * @param program how this program is called
 * @param options what all of them need
 */
record TryNext(String variables, String program, List<String> options) {

    static TryNext on(Target target, Optional<String> passwordFile, String program, List<String> schema) {
        List<String> options = new ArrayList<>(schema);
        if (passwordFile.isEmpty() && target.password() != null) {
            options.add("--password");
        }
        String variables = "export WINDLASS_URL=" + OutboxAccess.quoted(Secrets.mask(target.url())) + " WINDLASS_USER="
                + OutboxAccess.quoted(target.userName())
                + passwordFile
                        .map(file -> " WINDLASS_PASSWORD=\"$(cat " + OutboxAccess.quoted(file) + ")\"")
                        .orElse("");
        return new TryNext(variables, program, options);
    }

    /** Never broken into lines that fit: they are to be pasted. */
    List<String> lines(Optional<String> deadLetter) {
        List<String> lines = new ArrayList<>(List.of("Try in another terminal:", "  " + variables));
        lines.add(command("status --watch"));
        lines.add(command("outbox failed"));
        deadLetter.ifPresent(id -> lines.add(command("outbox show " + id)));
        lines.add(command("outbox requeue --topic fax.send"));
        lines.add(command("outbox pause mail.send"));
        lines.add(command("outbox resume mail.send"));
        lines.add(command("timers list --state ready --limit 5"));
        lines.add(command("jobs trigger count-the-till"));
        lines.add(command("queue list --state in-progress"));
        lines.add(command("queue limit reports --running 1"));
        return lines;
    }

    private String command(String words) {
        return "  " + program + " " + words
                + options.stream().map(word -> " " + OutboxAccess.quoted(word)).collect(Collectors.joining());
    }
}
