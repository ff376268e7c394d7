package dev.windlass.base;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;

/** Payloads as JSON, by Jackson 3. Needs {@code tools.jackson.core:jackson-databind} on the class path. */
public final class Jackson3PayloadCodec implements PayloadCodec {
    private final ObjectMapper mapper;

    /** Uses a mapper with every Jackson module on the class path. */
    public Jackson3PayloadCodec() {
        this(JsonMapper.builder().findAndAddModules().build());
    }

    public Jackson3PayloadCodec(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    /** Jackson's own exception names the way to the value that it cannot write, and the keys of maps are part of that way. */
    @Override
    public String encode(Object value) {
        try {
            return mapper.writeValueAsString(value);
        } catch (JacksonException e) {
            throw new IllegalArgumentException("expected a payload that Jackson can write, got a "
                    + value.getClass().getName() + " (" + why(e) + ")");
        }
    }

    private static String why(JacksonException e) {
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
        } catch (JacksonException e) {
            throw unreadable(type, "a " + unreadable(e));
        }
    }

    private static PermanentFailure unreadable(Class<?> type, String got) {
        return new PermanentFailure("expected a payload that Jackson can read as " + type.getName() + ", got " + got);
    }

    private static String unreadable(JacksonException e) {
        JsonPath path = new JsonPath();
        for (JacksonException.Reference each : e.getPath()) {
            path.step(each.from(), each.getPropertyName(), each.getIndex());
        }
        String wanted = e instanceof MismatchedInputException mismatched && mismatched.getTargetType() != null
                ? " for " + mismatched.getTargetType().getName()
                : "";
        return why(e) + wanted + path;
    }
}
