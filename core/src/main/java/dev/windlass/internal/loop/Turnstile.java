package dev.windlass.internal.loop;

/** Which of several nodes may claim next, and how much. */
public interface Turnstile {
    /** For a node that shares with nobody. */
    Turnstile OPEN = new Turnstile() {
        @Override
        public int enter(Visitor visitor) {
            return Integer.MAX_VALUE;
        }

        @Override
        public boolean isShared() {
            return false;
        }

        @Override
        public void leave(Visitor visitor, int claimed, boolean again) {}

        @Override
        public void inHand(String store, int change) {}

        @Override
        public void forget(Visitor visitor) {}
    };

    /** Somebody who claims. */
    interface Visitor {
        /** The store it claims from. */
        String store();

        /** How many it claims at once, at most. */
        int batchSize();

        /** It is to come again, and may enter. */
        void yourTurn();
    }

    /** Whether others pass it, too. Then there are enough claims at a time, and connections are what is scarce. */
    boolean isShared();

    /** How much it may claim now. If that is nothing, it is told when it is its turn. */
    int enter(Visitor visitor);

    /**
     * It has claimed so many messages.
     *
     * @param again whether it would like to claim more at once
     */
    void leave(Visitor visitor, int claimed, boolean again);

    /** So many messages of this store more, or less, are in hand. */
    void inHand(String store, int change);

    /** It does not come any more. */
    void forget(Visitor visitor);
}
