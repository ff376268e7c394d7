package dev.windlass.spring.test;

import dev.windlass.spring.CronJob;
import dev.windlass.spring.OnInbox;
import dev.windlass.spring.OnOutbox;
import dev.windlass.spring.OnWork;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.TypeExcludeFilter;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.ClassMetadata;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** Leaves out every component that handles nothing. */
final class HandlersOnly extends TypeExcludeFilter {
    private static final List<String> OURS =
            List.of(OnOutbox.class.getName(), OnInbox.class.getName(), OnWork.class.getName(), CronJob.class.getName());

    HandlersOnly() {}

    @Override
    public boolean match(MetadataReader reader, MetadataReaderFactory factory) throws IOException {
        return !handles(reader, factory);
    }

    /** An annotation may also be at a superclass, at an interface, or at their methods. */
    private static boolean handles(MetadataReader reader, MetadataReaderFactory factory) throws IOException {
        AnnotationMetadata type = reader.getAnnotationMetadata();
        if (OURS.stream().anyMatch(our -> type.isAnnotated(our) || type.hasAnnotatedMethods(our))) {
            return true;
        }
        for (String each : above(type)) {
            if (handles(factory.getMetadataReader(each), factory)) {
                return true;
            }
        }
        return false;
    }

    private static List<String> above(ClassMetadata type) {
        return Stream.concat(Stream.ofNullable(type.getSuperClassName()), Arrays.stream(type.getInterfaceNames()))
                .filter(each -> !each.startsWith("java."))
                .toList();
    }

    /** Contexts are kept for tests that are alike. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof HandlersOnly;
    }

    @Override
    public int hashCode() {
        return HandlersOnly.class.hashCode();
    }
}
