package dev.windlass;

import org.jspecify.annotations.Nullable;

/** Jackson if it is there; found out when the first typed payload comes, so that programs without one need no Jackson. */
final class DefaultCodec implements PayloadCodec {
    private volatile @Nullable PayloadCodec codec;

    @Override
    public String encode(Object value) {
        return codec().encode(value);
    }

    @Override
    public <T> T decode(String payload, Class<T> type) {
        return codec().decode(payload, type);
    }

    private PayloadCodec codec() {
        PayloadCodec known = codec;
        if (known == null) {
            try {
                known = new JacksonPayloadCodec();
            } catch (LinkageError e) {
                throw new WindlassException(
                        "expected a codec for typed payloads, found none; add com.fasterxml.jackson.core:jackson-databind"
                                + " or give one with Windlass.on(…).codec(…)",
                        e);
            }
            codec = known;
        }
        return known;
    }
}
