package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts that break out of careless SQL and JSON, and texts that are large. */
@OnEveryEngine
final class HostileTextConformance extends OutboxConformance {
    private static final int HEADER_ROUNDS = 200;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'; drop table outbox; --",
                "\"; drop schema windlass cascade; --",
                "$sql$; delete from outbox; $sql$",
                "\\'; select pg_sleep(100); --",
                "E'\\x27 or 1=1",
                "{\"a\",\"b\"}",
                "NULL",
                "{schema} ${x} %s %n ? :name {fn now()}",
                "\uD83D\uDE00 \u00fcn\u00efc\u00f6de \u05e9\u05dc\u05d5\u05dd \u200f\ufeff",
                "\r\n\t\u0001\u001b[31m\u007f\u0085\u2028",
                "a\\",
                "\"",
                ","
            })
    void aTextComesBackAsItWentInWhateverItLooksLike(String text) {
        OutboxEntry entry = OutboxEntry.of(text, text).withCorrelationId(text).withHeaders(Map.of(text, text));
        OutboxMessageIdentifier alone = outbox.enqueue(entry);
        OutboxMessageIdentifier batch =
                outbox.enqueueAll(List.of(entry, OutboxEntry.of("plain", ""))).get(0);
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxMessage> claimed = outbox.claim(owner, LEASE, 10);
        outbox.fail(owner, ids(claimed), text);

        assertThat(claimed).hasSize(3);
        for (OutboxMessageIdentifier id : List.of(alone, batch)) {
            OutboxMessage stored = stored(workItem(id));
            assertThat(stored.topic()).isEqualTo(text);
            assertThat(stored.payload()).isEqualTo(text);
            assertThat(stored.correlationId()).contains(text);
            assertThat(stored.headers()).isEqualTo(Map.of(text, text));
            assertThat(stored.lastError()).contains(text);
        }
    }

    @Test
    void aNodeNameIsStoredAsItIs() {
        String name = "n'); drop table outbox; -- \uD83D\uDE00";
        Outbox named = database()
                .start(database()
                        .windlass()
                        .options(database()
                                .options()
                                .withBackgroundWorkers(false)
                                .withNodeName(name)))
                .outbox();
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        named.ack(owner, List.of(id));

        assertThat(stored(id).processedBy()).contains(name);
    }

    @Test
    @Shows({"OBX-007", "OBX-009"})
    void theLongestTopicAndCorrelationIdAreKept() {
        String longest = "\u00fc".repeat(255);
        OutboxMessage stored =
                stored(workItem(outbox.enqueue(OutboxEntry.of(longest, "").withCorrelationId(longest))));

        assertThat(stored.topic()).isEqualTo(longest);
        assertThat(stored.correlationId()).contains(longest);
    }

    @Test
    @Shows("OBX-114")
    void aPayloadOfTwentyMegabytesIsCarriedThroughItsLife() {
        String payload = "\uD83D\uDE00 0123456789 \u00fc".repeat(1_200_000);
        OwnerToken owner = OwnerToken.fresh();
        outbox.enqueue(OutboxEntry.of("topic", payload));
        outbox.enqueueAll(List.of(OutboxEntry.of("topic", payload)));

        List<OutboxMessage> claimed = outbox.claim(owner, LEASE, 10);

        assertThat(claimed.stream().map(message -> message.payload().equals(payload)))
                .containsExactly(true, true);
        assertThat(outbox.ack(owner, ids(claimed))).isEqualTo(2);
    }

    /** The headers' JSON is written and read by hand: what the database makes of it must come back the same. */
    @Test
    void anyHeadersComeBackAsTheyWentIn() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<Map<String, String>> sent =
                IntStream.range(0, HEADER_ROUNDS).mapToObj(i -> headers(random)).toList();

        List<OutboxMessageIdentifier> ids = outbox.enqueueAll(sent.stream()
                .map(headers -> OutboxEntry.of("topic", "").withHeaders(headers))
                .toList());

        for (int i = 0; i < HEADER_ROUNDS; i++) {
            assertThat(stored(workItem(ids.get(i))).headers())
                    .as("seed %d", seed)
                    .isEqualTo(sent.get(i));
        }
    }

    private static Map<String, String> headers(Random random) {
        return IntStream.range(0, random.nextInt(5))
                .boxed()
                .collect(Collectors.toMap(
                        i -> "h" + text(random, 10), i -> text(random, 40), (one, other) -> one, TreeMap::new));
    }

    /** Mostly the characters that JSON or SQL treat specially, otherwise any that can be stored. */
    private static String text(Random random, int max) {
        String special = "\"\\/{}[]:,'`$?% \b\f\n\r\t\u0001\u001f\u007fu0";
        return random.ints(random.nextInt(max + 1), 1, Character.MAX_CODE_POINT + 1)
                .map(c -> random.nextInt(3) > 0 ? special.charAt(c % special.length()) : c)
                .filter(c -> c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
