package dev.windlass;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.ClassTemplate;
import org.junit.jupiter.api.extension.AfterClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.BeforeClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContext;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContextProvider;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs a conformance suite once for each database engine. A method of the suite that has a parameter of type
 * {@link EngineDatabase} gets that engine's.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ClassTemplate
@ExtendWith(OnEveryEngine.Engines.class)
public @interface OnEveryEngine {

    final class Engines implements ClassTemplateInvocationContextProvider {
        @Override
        public boolean supportsClassTemplate(ExtensionContext context) {
            return true;
        }

        @Override
        public Stream<Engine> provideClassTemplateInvocationContexts(ExtensionContext context) {
            return Stream.of(new Engine("PostgreSQL", TestDatabase.ofSuites()));
        }
    }

    record Engine(String name, EngineDatabase database) implements ClassTemplateInvocationContext {
        @Override
        public String getDisplayName(int invocation) {
            return name;
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            BeforeClassTemplateInvocationCallback before = database::beforeAll;
            AfterClassTemplateInvocationCallback after = database::afterAll;
            return List.of(before, database, after);
        }
    }
}
