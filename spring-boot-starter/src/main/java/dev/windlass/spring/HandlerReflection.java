package dev.windlass.spring;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.annotation.ReflectiveProcessor;

/** Tells a native image that a handler is called by reflection, and that its payload is made from JSON. */
final class HandlerReflection implements ReflectiveProcessor {
    private static final BindingReflectionHintsRegistrar binding = new BindingReflectionHintsRegistrar();

    @Override
    public void registerReflectionHints(ReflectionHints hints, AnnotatedElement element) {
        if (!(element instanceof Method method)) {
            return;
        }
        hints.registerMethod(method, ExecutableMode.INVOKE);
        for (Class<?> type : method.getParameterTypes()) {
            register(hints, type);
        }
        register(hints, method.getReturnType());
    }

    private static void register(ReflectionHints hints, Class<?> type) {
        if (type != String.class
                && !type.isPrimitive()
                && !HandlerMethod.isGiven(type)
                && !Modifier.isAbstract(type.getModifiers())) {
            binding.registerReflectionHints(hints, (Type) type);
        }
    }
}
