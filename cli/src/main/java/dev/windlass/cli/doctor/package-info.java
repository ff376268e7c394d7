/**
 * What {@code windlass doctor} looks at. A check is a class; {@link dev.windlass.cli.doctor.Doctor} has the list of them. A check asks the
 * catalog, the statistics, or the routines for diagnostics, and answers with findings. It reads no content of a message, and shows no text of
 * a query, which may hold payloads. What the user may not see is said, and is no problem.
 */
@NullMarked
package dev.windlass.cli.doctor;

import org.jspecify.annotations.NullMarked;
