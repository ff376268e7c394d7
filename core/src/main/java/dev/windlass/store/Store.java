package dev.windlass.store;

import dev.windlass.internal.support.Require;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A schema of a database under an identifier that stays the same: what one of many Windlasses works on. Several schemas of one
 * database are several stores.
 *
 * <p>Two are the same if their identifiers, schemas and configurations are. A {@link DatabaseDiscovery} may describe a store
 * anew each time: as long as it is the same, it is left alone.
 */
public final class Store {
    private static final int MAX_ID = 100;

    private final String id;
    private final @Nullable String schema;
    private final Object configuration;
    private final @Nullable Opening opening;

    /** Opens a data source. */
    @FunctionalInterface
    public interface Opening {
        DataSource open() throws Exception;
    }

    private Store(String id, @Nullable String schema, Object configuration, @Nullable Opening opening) {
        this.id = Require.line("identifier of a store", id, MAX_ID);
        this.schema = schema;
        this.configuration = configuration;
        this.opening = opening;
    }

    /** On a data source that belongs to the program, and is not closed here. */
    public static Store of(String id, DataSource dataSource) {
        return new Store(id, null, Require.present("data source", dataSource), null);
    }

    /**
     * On a data source that is opened with the store, and closed with it if it can be closed.
     *
     * @param configuration what the data source is made of, such as its URL: a store whose configuration is not equal to the one
     *     before is replaced. It is never shown
     */
    public static Store opening(String id, Object configuration, Opening opening) {
        return new Store(
                id, null, Require.present("configuration", configuration), Require.present("opening", opening));
    }

    /** The same in this schema, instead of the one that the options say. */
    public Store withSchema(String schema) {
        return new Store(id, Require.identifier("schema", schema), configuration, opening);
    }

    public String id() {
        return id;
    }

    public Optional<String> schema() {
        return Optional.ofNullable(schema);
    }

    /** Whether the data source is opened here, and therefore closed here. */
    public boolean isOpenedHere() {
        return opening != null;
    }

    /** The data source of the program, or a new one. */
    public DataSource open() throws Exception {
        return opening == null ? (DataSource) configuration : Require.present("data source", opening.open());
    }

    /** What is the same object is the same, also a proxy that passes {@code equals} on, and so differs from itself. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Store store
                && id.equals(store.id)
                && Objects.equals(schema, store.schema)
                && Objects.equals(configuration, store.configuration);
    }

    @Override
    public int hashCode() {
        return id.hashCode();
    }

    /** Without its configuration, which may hold a password. */
    @Override
    public String toString() {
        return schema == null ? id : id + " (schema " + schema + ")";
    }
}
