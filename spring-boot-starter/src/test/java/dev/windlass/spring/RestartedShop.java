package dev.windlass.spring;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An application whose classes are loaded anew at each start, as developers' tools do it. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class RestartedShop {

    record Purchase(String id) {}

    @Bean
    Queue<Object> heard() {
        return new ConcurrentLinkedQueue<>();
    }

    @Bean
    Listening listening(Queue<Object> heard) {
        return new Listening(heard);
    }

    static class Listening {
        private final Queue<Object> heard;

        Listening(Queue<Object> heard) {
            this.heard = heard;
        }

        @OnOutbox("purchase.made")
        void handle(Purchase purchase) {
            heard.add(purchase);
        }

        @CronJob(name = "stock", every = "1d")
        void count() {
            heard.add("counted");
        }
    }
}
