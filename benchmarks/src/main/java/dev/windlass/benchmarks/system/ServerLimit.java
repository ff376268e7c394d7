package dev.windlass.benchmarks.system;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Windlass's own claim and ack, called by a stored procedure inside the server: what no client can beat. */
public final class ServerLimit {
    private static final int[] SESSIONS = {1, 2, 3};
    private static final int[] BATCHES = {100, 500, 1000};
    private static final String PROCEDURE = """
            create or replace procedure %1$s.drain(p_topic text, p_batch integer, p_keep boolean) language plpgsql as $$
            declare
                v_owner uuid;
                v_ids   uuid[];
            begin
                loop
                    v_owner := gen_random_uuid();
                    select array_agg(c.id) into v_ids
                      from %1$s.outbox_claim(
                               v_owner, '30 s', p_batch, array[p_topic], array[p_batch],
                               array['-infinity'::timestamptz], array['00000000-0000-0000-0000-000000000000'::uuid]) c;
                    commit;
                    exit when v_ids is null;
                    while cardinality(v_ids) > 0 loop -- an ack leaves out what a claim of another session looks at just then
                        v_ids := (%1$s.outbox_ack(v_ids, array[v_owner], 'bench', p_keep)).locked;
                        commit;
                    end loop;
                end loop;
            end $$
            """;

    private final WindlassSystem system;
    private final String topic;
    private int sessions = 1;
    private int batch = 100;

    public ServerLimit(WindlassSystem system, String topic) throws Exception {
        this.system = system;
        this.topic = topic;
        system.tables().execute(PROCEDURE.formatted(system.tables().schema()));
    }

    public String settings() {
        return sessions + " sessions with batches of " + batch;
    }

    /** Looks for the sessions and the batch size that are best. */
    public void search(int messages, int payloadBytes) throws Exception {
        double highest = 0;
        int[] best = {1, 100};
        for (int each : SESSIONS) {
            for (int size : BATCHES) {
                double rate = drain(messages, payloadBytes, each, size);
                if (rate > highest) {
                    highest = rate;
                    best = new int[] {each, size};
                }
            }
        }
        sessions = best[0];
        batch = best[1];
    }

    /** Messages a second, with what was found to be best. */
    public double drain(int messages, int payloadBytes) throws Exception {
        return drain(messages, payloadBytes, sessions, batch);
    }

    private double drain(int messages, int payloadBytes, int atOnce, int size) throws Exception {
        system.fill(topic, messages, payloadBytes);
        ExecutorService threads = Executors.newFixedThreadPool(atOnce);
        try {
            long start = System.nanoTime();
            together(threads, atOnce, size);
            double seconds = (System.nanoTime() - start) / 1e9;
            if (!system.isDone()) {
                throw new IllegalStateException(
                        "expected all messages handled by the procedure, got " + system.left() + " left");
            }
            return messages / seconds;
        } finally {
            threads.shutdownNow();
        }
    }

    private void together(ExecutorService threads, int atOnce, int size) throws Exception {
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < atOnce; i++) {
            running.add(threads.submit(() -> {
                call(size);
                return true;
            }));
        }
        for (Future<?> each : running) {
            each.get();
        }
    }

    private void call(int size) throws Exception {
        try (var connection = system.pool().getConnection();
                var statement = connection.createStatement()) {
            statement.execute(
                    "call %s.drain('%s', %d, %s)".formatted(system.tables().schema(), topic, size, system.keeps()));
        }
    }
}
