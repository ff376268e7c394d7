package dev.windlass.internal.inbox;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.inbox.AttemptLostException;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.inbox.Processed;
import java.sql.PreparedStatement;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/** Processes message 1, and stays in the middle of it until it is told to go on. */
final class ConsumerMain {

    private ConsumerMain() {}

    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(arguments[1]);
        try (Windlass windlass = Windlass.on(source)
                .options(WindlassOptions.defaults().withSchemaName(arguments[2]))
                .inbox(InboxOptions.defaults().withGuardLease(Duration.parse(arguments[3])))
                .start()) {
            Processed processed = windlass.inbox().process("orders", "1", connection -> {
                try (PreparedStatement insert =
                        connection.prepareStatement("insert into " + arguments[2] + ".ledger values ('child')")) {
                    insert.executeUpdate();
                }
                say("working");
                var unused = System.in.read();
            });
            say(processed.outcome().name());
        } catch (AttemptLostException e) {
            say("lost");
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
