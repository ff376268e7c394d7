package dev.windlass.spring.test;

import dev.windlass.spring.OnOutbox;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.stereotype.Component;

/** Handlers whose annotations are at what they implement or extend. */
final class Billing {
    private Billing() {}

    interface OnPayments {
        @OnOutbox("order.paid")
        void paid(String order);
    }

    @Component
    static class Receipts implements OnPayments {
        final List<String> written = new CopyOnWriteArrayList<>();

        @Override
        public void paid(String order) {
            written.add(order);
        }
    }

    abstract static class Base {
        final List<String> written = new CopyOnWriteArrayList<>();

        @OnOutbox("order.refunded")
        void refunded(String order) {
            written.add(order);
        }
    }

    abstract static class Middle extends Base {}

    @Component
    static class Refunds extends Middle {}
}
