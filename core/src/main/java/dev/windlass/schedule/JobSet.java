package dev.windlass.schedule;

import dev.windlass.internal.support.Require;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that a program brings along, given to {@link dev.windlass.WindlassBuilder#jobs}. When it starts, they are saved, and those
 * that earlier programs brought along under this name and this one does not are deleted.
 *
 * <p>The revision decides: the greatest one that was ever brought along stands, and programs that start with an older one leave
 * it as it is. So old and new nodes of a rolling deploy do not undo each other's work. Increase it with every change.
 *
 * @param name of the set, not of a job; up to 255 characters
 * @param revision zero or more
 */
public record JobSet(String name, long revision, List<Job> jobs) {
    private static final int MAX_TEXT = 255;

    public JobSet {
        Require.name("name of the set of jobs", name, MAX_TEXT);
        if (revision < 0) {
            throw new IllegalArgumentException("expected a revision of zero or more, got " + revision);
        }
        jobs = List.copyOf(Require.elements("jobs", jobs));
        Set<String> names = new HashSet<>();
        for (Job job : jobs) {
            if (!names.add(job.complete().name())) {
                throw new IllegalArgumentException("expected jobs with different names in set \"" + name
                        + "\", got two with \"" + job.name() + "\"");
            }
        }
    }

    public static JobSet of(String name, long revision) {
        return new JobSet(name, revision, List.of());
    }

    /** The same with these jobs as well. */
    public JobSet with(Job... more) {
        Require.present("list of jobs", more);
        List<Job> added = Require.elements("jobs", Stream.of(more).toList());
        return new JobSet(
                name, revision, Stream.concat(jobs.stream(), added.stream()).toList());
    }

    /** What tells whether two sets of one revision are the same: hexadecimal SHA-256. */
    public String digest() {
        String text = jobs.stream()
                .sorted(Comparator.comparing(Job::name))
                .map(JobSet::canonical)
                .collect(Collectors.joining());
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static String canonical(Job job) {
        return Stream.of(
                        job.name(),
                        job.schedule(),
                        job.topic(),
                        job.payload(),
                        misfire(job.misfire()),
                        job.overlap(),
                        job.jitter())
                .map(JobSet::delimited)
                .collect(Collectors.joining());
    }

    private static String misfire(Misfire misfire) {
        if (misfire instanceof Misfire.All all) {
            return "all " + all.max();
        }
        return misfire instanceof Misfire.Skip skip ? "skip " + skip.later() : "once";
    }

    /** So that no two lists of texts become the same text. */
    private static String delimited(@Nullable Object value) {
        String text = String.valueOf(value);
        return text.length() + ":" + text;
    }

    /** Without the jobs' payloads: what may go into a log. */
    @Override
    public String toString() {
        return "JobSet[" + name + ", revision=" + revision + ", " + jobs.size() + " jobs]";
    }
}
