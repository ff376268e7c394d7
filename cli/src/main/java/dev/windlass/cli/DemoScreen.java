package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxOperator;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** What the demo shows on a terminal: the status, the last dead letter, and what to try next. */
final class DemoScreen {
    private final DataSource database;
    private final SchemaOptions schema;
    private final OutboxOperator operator;
    private final TryNext next;
    private final Supplier<Paper> page;

    DemoScreen(DataSource database, SchemaOptions schema, OutboxOperator operator, TryNext next, Supplier<Paper> page) {
        this.database = database;
        this.schema = schema;
        this.operator = operator;
        this.next = next;
        this.page = page;
    }

    void show(String numbers) {
        try (Connection connection = database.getConnection()) {
            Status status = Status.read(connection, schema);
            Optional<ListedMessage> dead =
                    operator.list(MessageFilter.failed(), 1).stream().findFirst();
            new Refresh(page.get(), true).show(numbers, draft -> print(draft, status, dead));
        } catch (SQLException | RuntimeException e) {
            new Refresh(page.get(), true)
                    .show(numbers, draft -> draft.sentence("the database does not answer: " + CommandFailure.safe(e)));
        }
    }

    private void print(Paper draft, Status status, Optional<ListedMessage> dead) {
        draft.out().println();
        status.print(draft);
        List<String> lines = new ArrayList<>();
        dead.ifPresent(letter -> lines.add("last dead letter: topic " + letter.topic() + ", "
                + letter.lastError().map(Printable::line).orElse("no error")));
        draft.out().println();
        lines.forEach(line -> draft.out().println(Printable.cut(line, draft.width())));
        next.lines(dead.map(letter -> letter.id().toString())).forEach(draft.out()::println);
        draft.sentence("Stop it with Ctrl-C; the data stays.");
    }
}
