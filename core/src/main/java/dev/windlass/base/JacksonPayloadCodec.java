package dev.windlass.base;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.InvalidDefinitionException;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** Payloads as JSON, by Jackson 2. Needs {@code com.fasterxml.jackson.core:jackson-databind} on the class path. */
public final class JacksonPayloadCodec implements PayloadCodec {
    private final ObjectMapper mapper;

    /**
     * Uses a mapper with every Jackson module on the class path. It ignores properties that the type does not have, as Jackson 3
     * does: a node of the version before must be able to read what a newer one writes.
     */
    public JacksonPayloadCodec() {
        this(JsonMapper.builder()
                .findAndAddModules()
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build());
    }

    public JacksonPayloadCodec(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    /** Jackson's own exception names the way to the value that it cannot write, and the keys of maps are part of that way. */
    @Override
    public String encode(Object value) {
        try {
            return mapper.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("expected a payload that Jackson can write, got a "
                    + value.getClass().getName() + " (" + why(e) + ")");
        }
    }

    private static String why(JsonProcessingException e) {
        String type = e instanceof InvalidDefinitionException unknown && unknown.getType() != null
                ? " of " + unknown.getType().getRawClass().getName()
                : "";
        return e.getClass().getSimpleName() + type;
    }

    /**
     * Text that does not fit the type never will: the message fails without further attempts. Jackson's own exception quotes
     * the payload, which must not reach a log, so only its kind is passed on, with the class and the field that it is about.
     */
    @Override
    public <T> T decode(String payload, Class<T> type) {
        try {
            T value = mapper.readValue(payload, type);
            if (value == null) {
                throw unreadable(type, "null");
            }
            return value;
        } catch (JsonProcessingException e) {
            throw unreadable(type, "a " + unreadable(e));
        }
    }

    private static PermanentFailure unreadable(Class<?> type, String got) {
        return new PermanentFailure("expected a payload that Jackson can read as " + type.getName() + ", got " + got);
    }

    private static String unreadable(JsonProcessingException e) {
        JsonPath path = new JsonPath();
        if (e instanceof JsonMappingException mapping) {
            for (JsonMappingException.Reference each : mapping.getPath()) {
                path.step(each.getFrom(), each.getFieldName(), each.getIndex());
            }
        }
        String wanted = e instanceof MismatchedInputException mismatched && mismatched.getTargetType() != null
                ? " for " + mismatched.getTargetType().getName()
                : "";
        return why(e) + wanted + path;
    }
}
