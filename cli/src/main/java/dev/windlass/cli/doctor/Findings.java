package dev.windlass.cli.doctor;

import java.util.ArrayList;
import java.util.List;

/** Takes down what a check finds. */
final class Findings {
    private final String check;
    private final List<Finding> all = new ArrayList<>();

    Findings(String check) {
        this.check = check;
    }

    void ok(String said) {
        all.add(new Finding(check, Verdict.OK, said, ""));
    }

    void unseen(String said, String remedy) {
        all.add(new Finding(check, Verdict.UNSEEN, said, remedy));
    }

    void warning(String said, String remedy) {
        all.add(new Finding(check, Verdict.WARNING, said, remedy));
    }

    void problem(String said, String remedy) {
        all.add(new Finding(check, Verdict.PROBLEM, said, remedy));
    }

    /** Where nothing was found, that is said. */
    void okIfNothingElse(String said) {
        if (all.isEmpty()) {
            ok(said);
        }
    }

    List<Finding> all() {
        return List.copyOf(all);
    }
}
