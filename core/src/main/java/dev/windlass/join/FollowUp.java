package dev.windlass.join;

import dev.windlass.internal.support.Require;
import org.jspecify.annotations.Nullable;

/**
 * What follows the end of a join.
 *
 * @param completed the message that follows if it has completed; null for none
 * @param failed the message that follows if it has failed; null for none
 * @param stepOf the join that what follows is a step of; if no message follows, the end of the join itself is
 */
public record FollowUp(
        @Nullable Message completed,
        @Nullable Message failed,
        @Nullable JoinIdentifier stepOf) {

    /**
     * A message of the outbox.
     *
     * @param topic up to 255 characters
     */
    public record Message(String topic, String payload) {
        public Message {
            Require.name("topic", topic, 255);
            Require.storable("payload", payload);
        }

        /** Without payload: what may go into a log. */
        @Override
        public String toString() {
            return "Message[topic=" + topic + "]";
        }
    }

    public FollowUp {
        if (completed == null && failed == null && stepOf == null) {
            throw new IllegalArgumentException(
                    "expected what follows a join, got nothing; give a topic, or the join it is a step of");
        }
    }

    /** A message that follows if the join has completed; nothing follows if it has failed, unless it is said with {@link #withFailed}. */
    public static FollowUp completed(String topic, String payload) {
        return new FollowUp(new Message(topic, payload), null, null);
    }

    /** A message that follows if the join has failed. */
    public static FollowUp failed(String topic, String payload) {
        return new FollowUp(null, new Message(topic, payload), null);
    }

    /** No message: the end of the join is a step of another. */
    public static FollowUp stepOf(JoinIdentifier join) {
        return new FollowUp(null, null, Require.present("join identifier", join));
    }

    public FollowUp withCompleted(String topic, String payload) {
        return new FollowUp(new Message(topic, payload), failed, stepOf);
    }

    public FollowUp withFailed(String topic, String payload) {
        return new FollowUp(completed, new Message(topic, payload), stepOf);
    }

    public FollowUp withStepOf(JoinIdentifier join) {
        return new FollowUp(completed, failed, Require.present("join identifier", join));
    }
}
