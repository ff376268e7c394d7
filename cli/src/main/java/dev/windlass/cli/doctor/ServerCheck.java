package dev.windlass.cli.doctor;

import java.sql.DatabaseMetaData;
import java.sql.SQLException;

/** Whether Windlass works on this server, and may write there. */
final class ServerCheck implements Check {

    @Override
    public String name() {
        return "server";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        DatabaseMetaData server = patient.connection().getMetaData();
        String said = server.getDatabaseProductName() + " " + server.getDatabaseProductVersion();
        if (!Patient.dialect().supports(server)) {
            findings.problem(
                    said + ", expected " + Patient.dialect().servers(), "Upgrade the server, or use another one.");
        } else if (patient.one("select pg_is_in_recovery()", row -> row.getBoolean(1))) {
            findings.problem(
                    said + ", a standby: nothing can be written here",
                    "Give a URL that leads to the primary, for example with targetServerType=primary.");
        } else if (patient.setting("transaction_read_only").equals("on")) {
            findings.problem(
                    said + ", read-only: nothing can be written here (default_transaction_read_only is on)",
                    "If it was the primary once, give a URL that leads to the new one. Else set default_transaction_read_only"
                            + " = off where it is on: for the server, this database, or this user.");
        } else {
            findings.ok(said);
        }
    }
}
