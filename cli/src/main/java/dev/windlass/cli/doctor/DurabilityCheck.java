package dev.windlass.cli.doctor;

import java.sql.SQLException;

/** Whether what is committed outlives a crash of the server. */
final class DurabilityCheck implements Check {

    @Override
    public String name() {
        return "durability";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        for (String setting : new String[] {"fsync", "full_page_writes"}) {
            if (patient.setting(setting).equals("off")) {
                findings.problem(
                        setting + " is off: a crash of the server can destroy the database",
                        "Set " + setting + " = on in postgresql.conf, and reload.");
            }
        }
        if (patient.setting("synchronous_commit").equals("off")) {
            findings.warning(
                    "synchronous_commit is off: a crash of the server loses what was committed last",
                    "Set synchronous_commit = on, at least for the users that write messages.");
        }
        findings.okIfNothingElse("what is committed outlives a crash");
    }
}
