package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.cli.doctor.Doctor;
import dev.windlass.cli.doctor.Finding;
import dev.windlass.cli.doctor.Patient;
import dev.windlass.cli.doctor.Verdict;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Looks for what may be wrong with a database, and says what to do. */
@Command(
        name = "doctor",
        description = "Look for what may be wrong with a database, and say what to do about it. Changes nothing.",
        footer = {"", "The exit code is 1 if there is a problem. Warnings, and what this user may not see, are none."})
final class DoctorCommand implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private WindlassCommand root;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private SchemaOptions schema = new SchemaOptions();

    @Option(
            names = "--older",
            paramLabel = "TIME",
            defaultValue = "5m",
            converter = Distance.class,
            description =
                    "Warn of transactions that have been open for longer than this; twelve times as long is a problem: 90s, 30m, 2h (default: ${DEFAULT-VALUE}).")
    private Duration older = Duration.ofMinutes(5);

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() {
        Target target = database.required(spec, root.environment());
        List<Finding> findings = examine(target);
        boolean isWell = findings.stream().noneMatch(finding -> finding.verdict() == Verdict.PROBLEM);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(json(findings, isWell));
        } else {
            print(findings);
        }
        out.flush();
        return isWell ? 0 : 1;
    }

    private List<Finding> examine(Target target) {
        try (Connection connection = target.connect()) {
            return Doctor.examine(new Patient(
                    target.dataSource(),
                    connection,
                    schema.schema,
                    InstalledComponents.expected(schema).toList(),
                    older));
        } catch (SQLException e) {
            throw CommandFailure.of("examine " + target, e);
        }
    }

    private void print(List<Finding> findings) {
        Paper page = root.page();
        for (Finding finding : findings) {
            page.sentence("%-9s%s: %s".formatted(finding.verdict(), finding.check(), Printable.line(finding.said())));
            if (!finding.remedy().isEmpty()) {
                page.sentence("         " + Printable.line(finding.remedy()));
            }
        }
        page.sentence("problems: %d, warnings: %d, not seen: %d"
                .formatted(
                        count(findings, Verdict.PROBLEM),
                        count(findings, Verdict.WARNING),
                        count(findings, Verdict.UNSEEN)));
    }

    private static long count(List<Finding> findings, Verdict verdict) {
        return findings.stream().filter(finding -> finding.verdict() == verdict).count();
    }

    private static ObjectNode json(List<Finding> findings, boolean isWell) {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("ok", isWell);
        ArrayNode all = json.putArray("findings");
        for (Finding finding : findings) {
            all.addObject()
                    .put("check", finding.check())
                    .put("verdict", finding.verdict().name())
                    .put("said", finding.said())
                    .put("remedy", finding.remedy().isEmpty() ? null : finding.remedy());
        }
        return json;
    }
}
