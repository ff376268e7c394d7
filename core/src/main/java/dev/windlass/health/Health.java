package dev.windlass.health;

/**
 * Whether a node and its database are well.
 *
 * <p>Thread-safe. No call takes longer than the time-out of {@link HealthOptions}, and none throws because something is wrong.
 */
public interface Health {

    /** All checks: those of the two other questions, what waits, what is stuck, and those of the program's own. */
    HealthReport all();

    /**
     * Whether the process is alive: its loops go on. A database that is away changes nothing of that. Where this is not healthy, a restart
     * may help.
     */
    HealthReport live();

    /** Whether the node can work: the database answers, its schema fits, and leases are renewed. */
    HealthReport ready();
}
