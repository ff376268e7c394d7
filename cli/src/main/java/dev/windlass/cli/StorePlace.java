package dev.windlass.cli;

import dev.windlass.base.WindlassException;
import dev.windlass.store.Store;
import javax.sql.DataSource;

/** A store under its identifier, and the way there. */
record StorePlace(String id, Target target, SchemaOptions schema) {

    /** Its URL, without a password. */
    String database() {
        return Secrets.mask(target.url());
    }

    /**
     * Not opened where it cannot be reached, so that it is told in the words of the command line, and is not waited for. The name of a
     * database may have characters that no identifier has.
     */
    Store store() {
        return Store.opening(Printable.line(id), target, this::reached).withSchema(schema.schema);
    }

    private DataSource reached() {
        try {
            target.check();
            return target.dataSource();
        } catch (CommandFailure e) {
            throw new WindlassException(Secrets.mask(String.valueOf(e.getMessage())), e);
        }
    }
}
