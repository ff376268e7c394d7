package dev.windlass.cli;

import java.util.List;
import java.util.UUID;

/** A queue whose messages, timers or runs have an id. */
abstract class IdQueue<I, L> extends WorkQueue<I, L> {

    abstract I name(UUID id);

    @Override
    final List<I> read(List<String> words) {
        return words.stream()
                .map(word -> name(MessageId.uuid(noun(), word)))
                .distinct()
                .toList();
    }
}
