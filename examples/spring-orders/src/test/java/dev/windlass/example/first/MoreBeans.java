package dev.windlass.example.first;

import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.Jackson3PayloadCodec;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.RetryPolicy;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.spring.OnOutbox;
import dev.windlass.spring.WindlassCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.json.JsonMapper;

/** What beans say to Windlass; the docs quote them. */
@Configuration(proxyBeanMethods = false)
class MoreBeans {
    // tag::codec
    @Bean
    PayloadCodec payloadCodec(JsonMapper mapper) { // the one that also answers requests
        return new Jackson3PayloadCodec(mapper);
    }
    // end::codec

    // tag::handler-bean
    @Bean
    @OnOutbox("order.archived")
    OutboxHandler archiving() {
        return (message, cancellation) -> System.out.println("archived " + message.payload());
    }
    // end::handler-bean

    // tag::customizer
    @Bean
    WindlassCustomizer shipping() {
        return builder -> builder.outboxHandler(
                "order.shipped",
                HandlerOptions.defaults().withCircuit(Circuit.defaults()),
                message -> System.out.println("shipped " + message.payload()));
    }
    // end::customizer

    // tag::change
    @Bean
    WindlassCustomizer patience() {
        return builder -> builder.options(
                        its -> its.withCallRetries(RetryPolicy.ofCalls().withMaxAttempts(2)))
                .outbox(its -> its.withFailedHead("order.shipped", FailedHead.IS_SKIPPED));
    }
    // end::change

    // tag::listener
    @Bean
    WindlassListener pager() {
        return event -> {
            if (event instanceof WindlassEvent.DeadLettered dead) {
                System.out.println("message " + dead.id() + " of topic " + dead.topic() + " has failed for good");
            }
        };
    }
    // end::listener
}
