package dev.windlass.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What an operator looks at, of all features of a store, or of many.
 *
 * @param oldestDue how long the first has been due; zero if none is
 * @param late the same without what is paused
 */
record StoreNumbers(
        Count ready,
        Count due,
        Count inProgress,
        Count failed,
        Count blockedKeys,
        Count overdueTimers,
        Count jobProblems,
        Duration oldestDue,
        Duration late) {
    private static final Count ZERO = new Count(0, false);

    static StoreNumbers none() {
        return new StoreNumbers(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, Duration.ZERO, Duration.ZERO);
    }

    static StoreNumbers of(Status status) {
        StoreNumbers others = new StoreNumbers(
                status.inbox().ready(),
                status.inbox().due(),
                status.inbox().inProgress(),
                status.inbox().failed().plus(status.timers().failed()),
                ZERO,
                status.timers().overdue(),
                new Count(status.jobs().problems(), false),
                status.inbox().oldestDue(),
                status.inbox().late());
        return Stream.concat(status.topics().stream(), status.queues().stream())
                .map(StoreNumbers::of)
                .reduce(others, StoreNumbers::plus);
    }

    private static StoreNumbers of(TopicStatus topic) {
        Duration oldest = topic.oldestDue() == null ? Duration.ZERO : topic.oldestDue();
        return new StoreNumbers(
                topic.ready(),
                topic.due(),
                topic.inProgress(),
                topic.failed(),
                topic.blockedKeys(),
                ZERO,
                ZERO,
                oldest,
                topic.isPaused() ? Duration.ZERO : oldest);
    }

    StoreNumbers plus(StoreNumbers other) {
        return new StoreNumbers(
                ready.plus(other.ready),
                due.plus(other.due),
                inProgress.plus(other.inProgress),
                failed.plus(other.failed),
                blockedKeys.plus(other.blockedKeys),
                overdueTimers.plus(other.overdueTimers),
                jobProblems.plus(other.jobProblems),
                longer(oldestDue, other.oldestDue),
                longer(late, other.late));
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    /** What is wrong, in words; empty if nothing is. */
    List<String> problems(Duration tolerated) {
        List<String> problems = new ArrayList<>();
        add(problems, failed, "failed");
        add(problems, blockedKeys, "blocked keys");
        add(problems, overdueTimers, "overdue timers");
        add(problems, jobProblems, "jobs with a problem");
        if (late.compareTo(tolerated) > 0) {
            problems.add("late by " + Span.of(late));
        }
        return problems;
    }

    private static void add(List<String> problems, Count count, String what) {
        if (count.number() > 0) {
            problems.add(count + " " + what);
        }
    }

    @Override
    public String toString() {
        return "%s ready, %s in progress, %s failed, %s overdue timers"
                .formatted(ready, inProgress, failed, overdueTimers);
    }
}
