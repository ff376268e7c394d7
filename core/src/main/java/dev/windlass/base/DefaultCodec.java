package dev.windlass.base;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Jackson 3 or 2, whichever is there; found out when the first typed payload or handler comes, so that programs without one need
 * no Jackson.
 */
final class DefaultCodec implements PayloadCodec {
    private static final List<Supplier<PayloadCodec>> KNOWN =
            List.of(() -> new Jackson3PayloadCodec(), () -> new JacksonPayloadCodec());

    private volatile @Nullable PayloadCodec codec;

    @Override
    public String encode(Object value) {
        return codec().encode(value);
    }

    @Override
    public <T> T decode(String payload, Class<T> type) {
        return codec().decode(payload, type);
    }

    @Override
    public void check() {
        var unused = codec();
    }

    PayloadCodec codec() {
        PayloadCodec known = codec;
        if (known == null) {
            known = find();
            codec = known;
        }
        return known;
    }

    private static PayloadCodec find() {
        WindlassException none = new WindlassException(
                "expected a codec for typed payloads, found none; add Jackson (tools.jackson.core:jackson-databind or"
                        + " com.fasterxml.jackson.core:jackson-databind), or give one with Windlass.on(…).codec(…)");
        for (Supplier<PayloadCodec> each : KNOWN) {
            try {
                return each.get();
            } catch (LinkageError e) {
                none.addSuppressed(e);
            }
        }
        throw none;
    }
}
