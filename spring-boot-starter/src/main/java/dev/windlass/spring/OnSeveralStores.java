package dev.windlass.spring;

import dev.windlass.Fleet;
import dev.windlass.store.DatabaseDiscovery;
import dev.windlass.store.Store;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Whether the application says which databases there are, instead of having one. */
final class OnSeveralStores extends AnyNestedCondition {
    OnSeveralStores() {
        super(ConfigurationPhase.REGISTER_BEAN);
    }

    @Conditional(InProperties.class)
    static class ByProperties {}

    @ConditionalOnBean(Store.class)
    static class ByBeans {}

    @ConditionalOnBean(DatabaseDiscovery.class)
    static class ByDiscovery {}

    @ConditionalOnBean(value = Fleet.class, search = SearchStrategy.CURRENT)
    static class ByAFleet {}

    static final class InProperties extends SpringBootCondition {
        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            boolean given = Binder.get(context.getEnvironment())
                    .bind("windlass.stores", Bindable.mapOf(String.class, Object.class))
                    .isBound();
            ConditionMessage.Builder message = ConditionMessage.forCondition("windlass.stores");
            return given
                    ? ConditionOutcome.match(message.because("there are some"))
                    : ConditionOutcome.noMatch(message.because("there are none"));
        }
    }
}
