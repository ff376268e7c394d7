package dev.windlass.trace;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.Objects;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.MDC;

/** A process that handles topic "a", and prints what it knows of where each message comes from. */
final class TracingHandler {
    private TracingHandler() {}

    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(arguments[1]);
        Traces traces = new Traces();
        Windlass.on(source)
                .options(WindlassOptions.defaults().withSchemaName(arguments[2]))
                .tracing(new ObservationTracing(traces.registry))
                .outboxHandler(
                        "a",
                        message -> System.out.println("handled "
                                + Objects.requireNonNull(traces.tracer.currentSpan())
                                        .context()
                                        .traceId() + " " + MDC.get("windlass.message")
                                + " "
                                + MDC.get("windlass.correlation")))
                .start();
        System.out.println("ready");
        for (int told = 0; ; ) {
            Thread.sleep(20);
            for (; told < traces.spans().size(); told++) {
                SpanData span = traces.spans().get(told);
                System.out.println("span " + span.getName() + " " + span.getKind() + " " + span.getTraceId() + " "
                        + span.getParentSpanId());
            }
        }
    }
}
