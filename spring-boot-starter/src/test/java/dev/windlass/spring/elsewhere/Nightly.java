package dev.windlass.spring.elsewhere;

import dev.windlass.spring.OnOutbox;
import dev.windlass.spring.UnderLease;

/** Base classes from another package than their beans. */
public final class Nightly {
    private Nightly() {}

    public abstract static class Leased {
        @UnderLease("nightly")
        void run() {}
    }

    public abstract static class Handling {
        @OnOutbox("a")
        void handle() {}
    }

    public abstract static class Callable {
        @OnOutbox("a")
        protected void handle() {}
    }
}
