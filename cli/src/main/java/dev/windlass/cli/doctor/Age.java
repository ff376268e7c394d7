package dev.windlass.cli.doctor;

import java.time.Duration;

/** Says how old something is, in its largest unit. */
final class Age {

    private Age() {}

    static String of(Duration age) {
        if (age.toHours() >= 48) {
            return age.toDays() + " days";
        }
        if (age.toMinutes() >= 120) {
            return age.toHours() + " hours";
        }
        return age.toSeconds() >= 120 ? age.toMinutes() + " minutes" : age.toSeconds() + " s";
    }
}
