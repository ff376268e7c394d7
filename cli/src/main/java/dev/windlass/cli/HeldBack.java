package dev.windlass.cli;

/** What somebody should know who has just held back a topic. */
final class HeldBack {

    private HeldBack() {}

    /**
     * Says that a topic may be misspelt, and that nodes heed this only elsewhere, where it is so.
     *
     * @param known whether anything has the topic
     * @param undo the command that lets it go, with a place for the topic
     * @param really the command of the outbox that holds back what nodes handle
     */
    static void note(
            OutboxAccess access, WorkQueue<?, ?> queue, String topic, boolean known, String undo, String really) {
        String word = OutboxAccess.quoted(Printable.line(topic));
        if (!known) {
            access.note("no " + queue.bearers() + " of " + queue.topic() + " " + Printable.line(topic)
                    + " is there now; if it is misspelt, undo this with '" + queue.command(undo.formatted(word)) + "'");
        }
        if (queue.isHandedOff()) {
            access.note("only programs that claim " + queue.nouns()
                    + " themselves heed this; nodes make messages of them all the same, which"
                    + " 'windlass outbox " + really.formatted(word) + "' holds back");
        }
    }
}
