package dev.windlass.spring;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.health.actuate.endpoint.AdditionalHealthEndpointPath;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.actuate.endpoint.HttpCodeStatusMapper;
import org.springframework.boot.health.actuate.endpoint.StatusAggregator;
import org.springframework.core.env.Environment;

/**
 * Puts Windlass into the groups that orchestrators ask: a hanging loop into liveness, the database and its schema into readiness. A group that the
 * application describes by itself stays as it is. All of health has the whole report already, and none of its parts again.
 */
final class WindlassHealthGroups implements HealthEndpointGroupsPostProcessor {
    private static final Map<String, String> OURS =
            Map.of("liveness", "windlassLiveness", "readiness", "windlassReadiness");

    private final Environment environment;

    WindlassHealthGroups(Environment environment) {
        this.environment = environment;
    }

    @Override
    public HealthEndpointGroups postProcessHealthEndpointGroups(HealthEndpointGroups groups) {
        Map<String, HealthEndpointGroup> all = new HashMap<>();
        for (String name : groups.getNames()) {
            HealthEndpointGroup group = Objects.requireNonNull(groups.get(name));
            String ours = isDescribed(name) ? null : OURS.get(name);
            all.put(
                    name,
                    ours == null ? group : new Group(group, member -> member.equals(ours) || group.isMember(member)));
        }
        HealthEndpointGroup primary = groups.getPrimary();
        return HealthEndpointGroups.of(
                new Group(primary, member -> !OURS.containsValue(member) && primary.isMember(member)), all);
    }

    private boolean isDescribed(String group) {
        return isBound(group, "include") || isBound(group, "exclude");
    }

    /** However it is written: as a text, a list or a variable of the environment. */
    private boolean isBound(String group, String property) {
        return Binder.get(environment)
                .bind("management.endpoint.health.group." + group + "." + property, Bindable.setOf(String.class))
                .isBound();
    }

    private record Group(HealthEndpointGroup group, Predicate<String> members) implements HealthEndpointGroup {
        @Override
        public boolean isMember(String name) {
            return members.test(name);
        }

        @Override
        public boolean showComponents(SecurityContext context) {
            return group.showComponents(context);
        }

        @Override
        public boolean showDetails(SecurityContext context) {
            return group.showDetails(context);
        }

        @Override
        public StatusAggregator getStatusAggregator() {
            return group.getStatusAggregator();
        }

        @Override
        public HttpCodeStatusMapper getHttpCodeStatusMapper() {
            return group.getHttpCodeStatusMapper();
        }

        @Override
        public @Nullable AdditionalHealthEndpointPath getAdditionalPath() {
            return group.getAdditionalPath();
        }
    }
}
