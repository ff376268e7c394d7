package dev.windlass.spring.test;

import dev.windlass.Windlass;
import dev.windlass.testkit.Workbench;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestExecutionListener;

/** Empties Windlass's tables after each test, when its transaction has ended. */
final class EmptyingListener implements TestExecutionListener, Ordered {

    @Override
    public void afterTestMethod(TestContext test) {
        if (!TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), EmbeddedWindlass.class)
                || !test.hasApplicationContext()) {
            return;
        }
        ApplicationContext context = test.getApplicationContext();
        if (context.getBeanNamesForType(Windlass.class).length > 0) {
            context.getBean(Workbench.class).empty();
        }
    }

    /** What comes first before a test comes last after it: that of transactions is at 4,000. */
    @Override
    public int getOrder() {
        return 3_900;
    }
}
