package dev.windlass.spring.test;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.testkit.Workbench;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestExecutionListener;

/** Empties Windlass's tables after each test, when its transaction has ended: those of the one Windlass, or of each store that has a workbench. */
final class EmptyingListener implements TestExecutionListener, Ordered {

    @Override
    public void afterTestMethod(TestContext test) {
        if (!TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), EmbeddedWindlass.class)
                || !test.hasApplicationContext()) {
            return;
        }
        ApplicationContext context = test.getApplicationContext();
        if (context.getBeanNamesForType(Windlass.class).length > 0) {
            context.getBean(EmbeddedWindlassCustomizer.WORKBENCH, Workbench.class)
                    .empty();
        } else if (context.getBeanNamesForType(Fleet.class).length > 0) {
            emptyStores(context);
        }
    }

    /** Where the tables of a store are, nobody knows but the application. */
    private static void emptyStores(ApplicationContext context) {
        List<String> workbenches = Stream.of(context.getBeanNamesForType(Workbench.class))
                .filter(name -> !name.equals(EmbeddedWindlassCustomizer.WORKBENCH))
                .toList();
        if (workbenches.isEmpty()) {
            throw EmbeddedWindlassCustomizer.noWorkbench();
        }
        workbenches.forEach(name -> context.getBean(name, Workbench.class).empty());
    }

    /** What comes first before a test comes last after it: that of transactions is at 4,000. */
    @Override
    public int getOrder() {
        return 3_900;
    }
}
