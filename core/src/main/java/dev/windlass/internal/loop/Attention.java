package dev.windlass.internal.loop;

/** Which nodes keep a connection, if there is not one for each. */
public interface Attention {
    /** Every node keeps its own. */
    Attention ALWAYS = new Attention() {
        @Override
        public boolean isOn(Node node) {
            return true;
        }

        @Override
        public void busy(Node node) {}

        @Override
        public void forget(Node node) {}
    };

    /** Whether a node keeps a connection from its beginning on. */
    boolean isOn(Node node);

    /** The node has work: it should keep a connection, if that can be. */
    void busy(Node node);

    /** It ends. */
    void forget(Node node);
}
