package dev.windlass.cli.doctor;

import java.sql.SQLException;

/** Looks at one thing. */
interface Check {

    String name();

    /** Whether it needs Windlass's tables. */
    default boolean needsTables() {
        return false;
    }

    void look(Patient patient, Findings findings) throws SQLException;
}
