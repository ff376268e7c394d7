package dev.windlass.base;

/** How a transaction has ended. */
public enum TransactionEnd {
    /** What was written in it is there. */
    COMMITTED,

    /** What was written in it is not there. */
    ROLLED_BACK,

    /** The answer to the commit was lost: it is not known which of both it was. */
    UNKNOWN
}
