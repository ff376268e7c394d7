package dev.windlass.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class CodecTest {
    /** What a program may send. */
    record Order(int number, @Nullable Instant placedAt) {}

    /** A bean that throws what it holds. */
    public static final class Unwritable {
        @SuppressWarnings("DoNotCallSuggester") // Jackson calls it
        public String getSecret() {
            throw new IllegalStateException("secret");
        }
    }

    static Stream<PayloadCodec> codecs() {
        return Stream.of(new Jackson3PayloadCodec(), new DefaultCodec());
    }

    @ParameterizedTest
    @MethodSource("codecs")
    void whatIsWrittenIsReadAgain(PayloadCodec codec) {
        Order order = new Order(7, Instant.parse("2026-11-16T12:00:00Z"));
        assertThat(codec.decode(codec.encode(order), Order.class)).isEqualTo(order);
    }

    static Stream<PayloadCodec> allCodecs() {
        return Stream.of(new Jackson3PayloadCodec(), new JacksonPayloadCodec());
    }

    /** As when a node of the version before meets it. */
    @ParameterizedTest
    @MethodSource("allCodecs")
    void whatTheTypeDoesNotKnowIsLeftOut(PayloadCodec codec) {
        assertThat(codec.decode("{\"number\":7,\"color\":\"red\"}", Order.class))
                .isEqualTo(new Order(7, null));
    }

    @ParameterizedTest
    @MethodSource("allCodecs")
    void whatCannotBeReadFailsForGoodAndIsNotQuoted(PayloadCodec codec) {
        for (String payload : new String[] {"secret", "{\"number\":\"secret\"}", "[\"secret\"]", "null"}) {
            assertThatThrownBy(() -> codec.decode(payload, Order.class))
                    .isInstanceOf(PermanentFailure.class)
                    .hasMessageContaining("expected a payload that Jackson can read as " + Order.class.getName())
                    .hasNoCause()
                    .hasMessageNotContaining("secret");
        }
    }

    record Line(String article, int pieces) {}

    record Cart(
            List<Line> lines,
            Map<String, Line> byName,
            @Nullable Shape shape) {}

    interface Shape {}

    @ParameterizedTest
    @MethodSource("allCodecs")
    void whatCannotBeReadIsToldByClassesAndFields(PayloadCodec codec) {
        unread(
                codec,
                "{\"lines\":[{\"pieces\":1},{\"pieces\":\"secret\"}]}",
                "InvalidFormatException for int at lines[1].pieces");
        unread(
                codec,
                "{\"byName\":{\"secret\":{\"pieces\":\"secret\"}}}",
                "InvalidFormatException for int at byName.?.pieces");
        unread(codec, "{\"lines\":\"secret\"}", " at lines");
        unread(
                codec,
                "{\"shape\":{\"secret\":1}}",
                "InvalidDefinitionException of " + Shape.class.getName() + " at shape");
    }

    private static void unread(PayloadCodec codec, String payload, String why) {
        assertThatThrownBy(() -> codec.decode(payload, Cart.class))
                .isInstanceOf(PermanentFailure.class)
                .hasMessageEndingWith(why)
                .hasMessageNotContaining("secret");
    }

    @ParameterizedTest
    @MethodSource("allCodecs")
    void whatCannotBeWrittenIsRefusedAndNotQuoted(PayloadCodec codec) {
        assertThatThrownBy(() -> codec.encode(new Unwritable()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("secret");
    }

    @Test
    void jackson3IsTakenWhereBothAreThere() {
        assertThat(new DefaultCodec().codec()).isInstanceOf(Jackson3PayloadCodec.class);
    }
}
