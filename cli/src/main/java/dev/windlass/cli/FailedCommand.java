package dev.windlass.cli;

import dev.windlass.base.WorkStatus;
import java.util.List;
import picocli.CommandLine.Command;

/** Lists what was given up; it waits for somebody to decide. */
@Command(name = "failed", description = "List ${bundle:queue.nouns} that failed for good, the latest first.")
final class FailedCommand extends QueueList {

    @Override
    WorkStatus state() {
        return WorkStatus.FAILED;
    }

    @Override
    List<String> stateWords() {
        return List.of();
    }

    @Override
    String none(String nouns) {
        return "no failed " + nouns;
    }
}
