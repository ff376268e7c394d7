package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/** Goes through all checks. */
public final class Doctor {
    private static final String DENIED = "42501";
    private static final int ANSWER_SECONDS = 5;

    private static final List<Check> CHECKS = List.of(
            new RoundTripCheck(),
            new ServerCheck(),
            new ClockCheck(InstantSource.system()),
            new DurabilityCheck(),
            new ConnectionsCheck(),
            new ListenCheck(),
            new OldTransactionsCheck(),
            new PreparedTransactionsCheck(),
            new ReplicationSlotsCheck(),
            new SchemaCheck(),
            new RightsCheck(),
            new RoutinesCheck(),
            new IndexesCheck(),
            new AutovacuumCheck(),
            new BloatCheck(),
            new LateWorkCheck(),
            new PausedTopicsCheck(),
            new UnhandledTopicsCheck());

    private Doctor() {}

    public static List<Finding> examine(Patient patient) throws SQLException {
        boolean hasTables = !patient.installed().isEmpty();
        List<Finding> all = new ArrayList<>();
        for (Check check : CHECKS) {
            if (hasTables || !check.needsTables()) {
                all.addAll(look(check, patient));
            }
        }
        return all;
    }

    /** What a program takes for an outage may be what is to be found: no more connections, a server that takes no writes. */
    private static List<Finding> look(Check check, Patient patient) throws SQLException {
        Findings findings = new Findings(check.name());
        try {
            check.look(patient, findings);
        } catch (SQLException e) {
            if (!patient.connection().isValid(ANSWER_SECONDS)) {
                throw e;
            }
            notSeen(e, findings);
        }
        return findings.all();
    }

    private static void notSeen(SQLException e, Findings findings) {
        if (DENIED.equals(e.getSQLState())) {
            findings.unseen(
                    "this user may not look there",
                    "Run 'windlass migrate --grant-read-to USER' as the owner of the schema, or ask as another user.");
        } else {
            findings.unseen(
                    "it could not be looked at: " + Patient.dialect().describe(e),
                    "See what the other checks say; it may be what is missing there.");
        }
    }
}
