package dev.windlass.cli.doctor;

/**
 * What a check found.
 *
 * @param remedy what to do about it; empty if there is nothing to be done
 */
public record Finding(String check, Verdict verdict, String said, String remedy) {

    boolean isOk() {
        return verdict == Verdict.OK;
    }
}
