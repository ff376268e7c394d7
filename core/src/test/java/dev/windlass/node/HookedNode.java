package dev.windlass.node;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import org.postgresql.ds.PGSimpleDataSource;

/** The program of a child process: a service that runs until it is told to end. Its handler works until it is sent a line. */
public final class HookedNode {

    private HookedNode() {}

    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(arguments[1]);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> say("told to end")));
        Windlass windlass = Windlass.on(source)
                .options(WindlassOptions.defaults().withSchemaName(arguments[2]))
                .outboxHandler("a", message -> {
                    say("at work");
                    say("finished " + System.in.read());
                })
                .closeOnShutdown()
                .start();
        say("running " + windlass.isRunning());
        Thread.currentThread().join();
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
