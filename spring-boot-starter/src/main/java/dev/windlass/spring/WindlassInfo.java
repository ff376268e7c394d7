package dev.windlass.spring;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

/** Which Windlass this is, for {@code /actuator/info}. */
final class WindlassInfo implements InfoContributor {
    private final WindlassProperties properties;

    WindlassInfo(WindlassProperties properties) {
        this.properties = properties;
    }

    @Override
    public void contribute(Info.Builder builder) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put(
                "version",
                Objects.requireNonNullElse(Windlass.class.getPackage().getImplementationVersion(), "unknown"));
        told.put(
                "schema",
                Objects.requireNonNullElse(
                        properties.schema(), WindlassOptions.defaults().schemaName()));
        told.put("workers", properties.workers());
        if (!properties.stores().isEmpty()) {
            told.put("stores", properties.stores().keySet());
        }
        builder.withDetail("windlass", told);
    }
}
