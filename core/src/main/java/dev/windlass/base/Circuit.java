package dev.windlass.base;

import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * When the handler of a topic fails throughout, because what it needs is down, the topic rests on this node instead of using
 * up the attempts of all its messages.
 *
 * <p>After so many failures in a row nothing of the topic is started for the length of the rest; what this node has claimed
 * and not started is given back. Then one message is tried. If its handler succeeds, work goes on as before; if not, the
 * topic rests again. Neither the last of these failures, nor such a trial, nor what was running when the rest began costs a message an
 * attempt.
 *
 * <p>Time-outs are failures. {@link PermanentFailure} and {@link RetryAfter} are the handler's word about one message: they
 * do not show that it fails throughout, nor that what it needs is there, so they neither count nor end the row.
 *
 * @param failures after how many failed attempts without a success between them, over all messages of the topic
 * @param rest how long the topic rests before one message is tried
 */
public record Circuit(int failures, Duration rest) {

    public Circuit {
        Require.positive("number of failures", failures);
        Require.positive("rest", rest);
    }

    /** Ten failures in a row; thirty seconds. */
    public static Circuit defaults() {
        return new Circuit(10, Duration.ofSeconds(30));
    }

    public Circuit withFailures(int failures) {
        return new Circuit(failures, rest);
    }

    public Circuit withRest(Duration rest) {
        return new Circuit(failures, rest);
    }
}
