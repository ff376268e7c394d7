package dev.windlass;

import java.sql.SQLException;
import java.util.List;

/** Ways in which a database quotes rows of Windlass's tables in its errors, by what users have added to them. */
public enum Quoting {
    /** The server's detail quotes the row. */
    CHECK_CONSTRAINT("23514", "") {
        @Override
        void add(TestDatabase database, String table) throws SQLException {
            database.execute("alter table %s." + table + " add constraint keeps_secrets check (false) not valid");
        }

        @Override
        void drop(TestDatabase database, String table) throws SQLException {
            database.execute("alter table %s." + table + " drop constraint keeps_secrets");
        }
    },
    RAISE("P0001", "raise exception 'refused: %', v_row"),
    /** Under a state whose texts quote nothing, as a rule. */
    RAISE_AS_RIGHTS("42501", "raise exception 'refused: %', v_row using errcode = '42501', hint = v_row"),
    /** The server's own text quotes the value. */
    CAST("22P02", "perform (v_row ->> 'payload')::integer"),
    /** A name that is made of a value. */
    NAME("42P01", "perform ('\"' || (v_row ->> 'payload') || '\"')::regclass"),
    /** Only the commit tells. */
    AT_COMMIT("P0001", "raise exception 'refused: %', v_row") {
        @Override
        void trigger(TestDatabase database, String table) throws SQLException {
            database.execute("create constraint trigger quote_row after insert or update or delete on %s." + table
                    + " deferrable initially deferred for each row execute function %s.quote_row()");
        }
    };

    public final String state;
    private final String statement;

    Quoting(String state, String statement) {
        this.state = state;
        this.statement = statement;
    }

    /** From now on, whoever changes a row of these tables is refused. */
    public final void begin(TestDatabase database, List<String> tables) throws SQLException {
        for (String table : tables) {
            add(database, table);
        }
    }

    public final void end(TestDatabase database, List<String> tables) throws SQLException {
        for (String table : tables) {
            drop(database, table);
        }
    }

    void add(TestDatabase database, String table) throws SQLException {
        database.execute(function(statement));
        trigger(database, table);
    }

    static String function(String statement) {
        return """
                create or replace function %s.quote_row() returns trigger language plpgsql as $$
                declare
                    v_row jsonb := to_jsonb(case tg_op when 'DELETE' then old else new end);
                begin
                    {statement};
                    return case tg_op when 'DELETE' then old else new end;
                end $$""".replace("{statement}", statement);
    }

    void trigger(TestDatabase database, String table) throws SQLException {
        database.execute("create trigger quote_row before insert or update or delete on %s." + table
                + " for each row execute function %s.quote_row()");
    }

    void drop(TestDatabase database, String table) throws SQLException {
        database.execute("drop trigger quote_row on %s." + table);
    }
}
