package dev.windlass.spring;

import dev.windlass.WindlassBuilder;
import dev.windlass.base.Cancellation;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PayloadCodec;
import dev.windlass.inbox.InboxHandler;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.Misfire;
import dev.windlass.spring.HandlerMethod.InvalidHandlerException;
import dev.windlass.spring.WindlassProperties.HandlerProperties;
import dev.windlass.store.Store;
import dev.windlass.work.WorkContext;
import dev.windlass.work.WorkHandler;
import dev.windlass.work.WorkItem;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Makes handlers and jobs of annotations, and gives them to a builder. */
final class AnnotatedHandlers {
    private final WindlassBuilder builder;
    private final PropertiesToOptions options;
    private final PayloadCodec codec;
    private final Texts texts;
    private final @Nullable Store store;
    private final Map<String, String> handling = new HashMap<>();

    /** Texts of annotations, with what stands for placeholders in them. */
    @FunctionalInterface
    interface Texts {
        @Nullable
        String resolve(String text);
    }

    /**
     * @param store whose messages they handle, if there are several databases; methods may ask for it
     */
    AnnotatedHandlers(
            WindlassBuilder builder,
            PropertiesToOptions options,
            PayloadCodec codec,
            Texts texts,
            @Nullable Store store) {
        this.builder = builder;
        this.options = options;
        this.codec = codec;
        this.texts = texts;
        this.store = store;
    }

    /** A method with one of our annotations. */
    void method(Annotation annotation, Method method, String name, Supplier<Object> bean) {
        options.requireFeature(annotation, HandlerMethod.name(method));
        reading(annotation.annotationType(), HandlerMethod.name(method), () -> {
            refuseSecond(annotation, HandlerMethod.name(method) + " of bean \"" + name + "\"");
            add(annotation, method, bean);
        });
    }

    private void refuseSecond(Annotation annotation, String who) {
        String what = handled(annotation);
        String first = handling.putIfAbsent(what, who);
        if (first != null) {
            throw new InvalidHandlerException(
                    first + " and " + who + " both handle " + what + "; expected one handler, so take one away");
        }
    }

    private String handled(Annotation annotation) {
        if (annotation instanceof OnOutbox on) {
            return "topic " + text(on.value()) + " of the outbox";
        }
        if (annotation instanceof OnInbox on) {
            return "topic " + text(on.value()) + " of the inbox";
        }
        if (annotation instanceof OnWork on) {
            return "type " + text(on.type()) + " of queue " + text(on.queue());
        }
        // Each run of a job is a message of the outbox, whose topic is the name of the job.
        return "topic " + text(((CronJob) annotation).name()) + " of the outbox";
    }

    private void add(Annotation annotation, Method method, Supplier<Object> bean) {
        if (annotation instanceof OnOutbox on) {
            outbox(
                    on,
                    taking(method, bean, OutboxMessage.class, Cancellation.class)
                            .returningNothing());
        } else if (annotation instanceof OnInbox on) {
            inbox(
                    on,
                    taking(method, bean, InboxMessage.class, Cancellation.class).returningNothing());
        } else if (annotation instanceof OnWork on) {
            work(on, taking(method, bean, WorkItem.class, WorkContext.class));
        } else if (annotation instanceof CronJob job) {
            job(job, taking(method, bean, OutboxMessage.class).returningNothing());
        }
    }

    private HandlerMethod taking(Method method, Supplier<Object> bean, Class<?>... known) {
        return new HandlerMethod(method, bean, List.of(known), store);
    }

    /** A bean that is a handler by itself. */
    void bean(Annotation annotation, Class<?> type, String name, Supplier<Object> bean) {
        options.requireFeature(annotation, type.getName());
        reading(annotation.annotationType(), type.getName(), () -> {
            refuseSecond(annotation, "bean \"" + name + "\"");
            add(annotation, type, name, bean);
        });
    }

    private void add(Annotation annotation, Class<?> type, String name, Supplier<Object> bean) {
        if (annotation instanceof OnOutbox on) {
            require(type, OutboxHandler.class, annotation);
            builder.outboxHandler(text(on.value()), outboxOptions(on.handling()), (OutboxHandler)
                    (message, cancellation) -> ((OutboxHandler) bean.get()).handle(message, cancellation));
        } else if (annotation instanceof OnInbox on) {
            require(type, InboxHandler.class, annotation);
            if (on.inTransaction()) {
                throw new InvalidHandlerException(
                        type.getName()
                                + " is an InboxHandler, which cannot run in a transaction; annotate a method instead of the bean");
            }
            builder.inboxHandler(text(on.value()), inboxOptions(on.handling()), (InboxHandler)
                    (message, cancellation) -> ((InboxHandler) bean.get()).handle(message, cancellation));
        } else if (annotation instanceof OnWork on) {
            require(type, WorkHandler.class, annotation);
            builder.workHandler(
                    text(on.queue()),
                    text(on.type()),
                    workOptions(on.handling()),
                    (item, context) -> ((WorkHandler) bean.get()).handle(item, context));
        } else if (annotation instanceof CronJob job) {
            builder.job(job(job), outboxOptions(job.handling()), run(type, name, bean));
        }
    }

    /** What a job runs has nothing to handle: a {@code Runnable} does. */
    private static OutboxHandler.Simple run(Class<?> type, String name, Supplier<Object> bean) {
        if (Runnable.class.isAssignableFrom(type)) {
            return message -> ((Runnable) bean.get()).run();
        }
        if (OutboxHandler.Simple.class.isAssignableFrom(type)) {
            return message -> ((OutboxHandler.Simple) bean.get()).handle(message);
        }
        throw new InvalidHandlerException(
                "bean \"" + name + "\" has @CronJob, but is neither a " + Runnable.class.getName()
                        + " nor an " + OutboxHandler.Simple.class.getCanonicalName()
                        + "; let the method that makes the bean return one of"
                        + " them, or annotate a method");
    }

    private static void require(Class<?> type, Class<?> expected, Annotation annotation) {
        if (!expected.isAssignableFrom(type)) {
            throw new InvalidHandlerException(type.getName() + " has @"
                    + annotation.annotationType().getSimpleName() + ", but is no " + expected.getName()
                    + "; implement it, or annotate a method");
        }
    }

    private void outbox(OnOutbox on, HandlerMethod method) {
        checkCodec(method);
        builder.outboxHandler(text(on.value()), outboxOptions(on.handling()), (OutboxHandler)
                (message, cancellation) -> method.call(message.payload(), codec, message, cancellation));
    }

    private void inbox(OnInbox on, HandlerMethod method) {
        checkCodec(method);
        String topic = text(on.value());
        HandlerOptions its = inboxOptions(on.handling());
        if (!on.inTransaction()) {
            builder.inboxHandler(topic, its, (InboxHandler)
                    (message, cancellation) -> method.call(message.payload(), codec, message, cancellation));
            return;
        }
        if (method.takes(Cancellation.class)) {
            throw method.refused(
                    "takes a Cancellation, which a handler in a transaction has not; take it away, or inTransaction");
        }
        builder.inboxHandlerInTransaction(
                topic, its, (connection, message) -> method.call(message.payload(), codec, message));
    }

    private void work(OnWork on, HandlerMethod method) {
        checkCodec(method);
        builder.workHandler(text(on.queue()), text(on.type()), workOptions(on.handling()), (item, context) -> {
            Object result = there(method.call(item.payload(), codec, item, context));
            if (result != null) {
                context.result(result instanceof String told ? told : codec.encode(result));
            }
        });
    }

    private static @Nullable Object there(@Nullable Object result) {
        return result instanceof Optional<?> maybe ? maybe.orElse(null) : result;
    }

    private void job(CronJob annotation, HandlerMethod method) {
        if (method.needsCodec() || method.takes(String.class)) {
            throw method.refused(
                    "takes a payload, which the runs of a job have not; it may take the OutboxMessage, or nothing");
        }
        builder.job(job(annotation), outboxOptions(annotation.handling()), message -> {
            var unused = method.call(message.payload(), codec, message);
        });
    }

    private Job job(CronJob annotation) {
        String name = text(annotation.name());
        String cron = text(annotation.cron());
        String every = text(annotation.every());
        if (cron.isEmpty() == every.isEmpty()) {
            throw new IllegalArgumentException(
                    "expected either cron or every, got " + (cron.isEmpty() ? "none" : "both"));
        }
        Job job = cron.isEmpty()
                ? Job.every(name, duration("every", every))
                : Job.cron(name, cron, ZoneId.of(text(annotation.zone())));
        Duration jitter = given("jitter", annotation.jitter());
        return (jitter == null ? job : job.withJitter(jitter))
                .withOverlap(annotation.overlap())
                .withMisfire(misfire(annotation.missed()));
    }

    private static Misfire misfire(int missed) {
        return switch (missed) {
            case 0 -> Misfire.skip();
            case 1 -> Misfire.once();
            default -> Misfire.all(missed);
        };
    }

    /** What is wrong with an annotation is told with who has it. */
    static void reading(Class<? extends Annotation> annotation, String who, Runnable reading) {
        try {
            reading.run();
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new InvalidHandlerException(
                    who + " has a @" + annotation.getSimpleName() + " that cannot be: " + e.getMessage(), e);
        }
    }

    private void checkCodec(HandlerMethod method) {
        if (method.needsCodec()) {
            codec.check();
        }
    }

    private HandlerOptions outboxOptions(Handling handling) {
        return options(handling, options.outbox().queue().handlers());
    }

    private HandlerOptions inboxOptions(Handling handling) {
        return options(handling, options.inbox().queue().handlers());
    }

    private HandlerOptions workOptions(Handling handling) {
        return options(handling, options.work().queue().handlers());
    }

    private HandlerOptions options(Handling handling, HandlerOptions ofQueue) {
        HandlerProperties its = new HandlerProperties(
                handling.concurrency() == 0 ? null : handling.concurrency(),
                given("timeout", handling.timeout()),
                null,
                handling.maxAttempts() == 0 ? null : handling.maxAttempts(),
                given("retryAfter", handling.retryAfter()),
                given("retryAtMostAfter", handling.retryAtMostAfter()));
        return PropertiesToOptions.handlers("@Handling", its, ofQueue);
    }

    private @Nullable Duration given(String attribute, String text) {
        String resolved = text(text);
        return resolved.isEmpty() ? null : duration(attribute, resolved);
    }

    /**
     * @param attribute of the annotation, as errors have it
     */
    static Duration duration(String attribute, String text) {
        try {
            return Durations.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(attribute + ": " + e.getMessage(), e);
        }
    }

    private String text(String text) {
        String resolved = texts.resolve(text);
        return resolved == null ? "" : resolved;
    }
}
