package dev.windlass.spring;

import java.lang.reflect.Type;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.type.filter.AnnotationTypeFilter;
import org.springframework.util.ClassUtils;

/** Tells a native image which events are written as JSON: they are no beans, so they are looked for in the packages of the application. */
final class OutboxEventsAheadOfTime implements BeanFactoryInitializationAotProcessor {
    private static final BindingReflectionHintsRegistrar binding = new BindingReflectionHintsRegistrar();

    @Override
    public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
            ConfigurableListableBeanFactory beans) {
        if (!AutoConfigurationPackages.has(beans)) {
            return null;
        }
        ClassLoader loader = beans.getBeanClassLoader();
        List<Class<?>> events = AutoConfigurationPackages.get(beans).stream()
                .flatMap(OutboxEventsAheadOfTime::in)
                .<Class<?>>map(name -> ClassUtils.resolveClassName(name, loader))
                .toList();
        return (generation, code) -> events.forEach(event ->
                binding.registerReflectionHints(generation.getRuntimeHints().reflection(), (Type) event));
    }

    private static Stream<String> in(String basePackage) {
        ClassPathScanningCandidateComponentProvider scanner = new ClassPathScanningCandidateComponentProvider(false);
        scanner.addIncludeFilter(new AnnotationTypeFilter(OutboxEvent.class));
        return scanner.findCandidateComponents(basePackage).stream()
                .map(BeanDefinition::getBeanClassName)
                .flatMap(Stream::ofNullable);
    }
}
