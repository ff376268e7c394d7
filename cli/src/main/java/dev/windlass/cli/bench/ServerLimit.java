package dev.windlass.cli.bench;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The same claim and ack, done by a stored procedure inside the server: what no client can beat. */
final class ServerLimit {

    static final String PROCEDURES = """
            create procedure windlass_bench.fill(p_messages integer, p_bytes integer, p_keys integer) language plpgsql as $$
            begin
                for i in 1 .. (p_messages + 999) / 1000 loop
                    perform windlass_bench.outbox_enqueue_all(
                                null, array_agg('bench'::text), array_agg(repeat('x', p_bytes)), p_notify => false,
                                p_ordering_keys => case when p_keys > 0 then array_agg('key ' || n % nullif(p_keys, 0)) end)
                       from generate_series((i - 1) * 1000, least(i * 1000, p_messages) - 1) n;
                    commit;
                end loop;
            end $$;

            create procedure windlass_bench.drain(p_batch integer, p_keep boolean) language plpgsql as $$
            declare
                v_owner uuid;
                v_ids   uuid[];
            begin
                loop
                    v_owner := gen_random_uuid();
                    select array_agg(c.id) into v_ids
                      from windlass_bench.outbox_claim(
                               v_owner, '30 s', p_batch, array['bench'], array[p_batch],
                               array['-infinity'::timestamptz], array['00000000-0000-0000-0000-000000000000'::uuid]) c;
                    commit;
                    exit when v_ids is null;
                    loop -- a claim of another session may have some of them locked
                        select a.locked into v_ids from windlass_bench.outbox_ack(v_ids, array[v_owner], 'bench', p_keep) a;
                        commit;
                        exit when cardinality(v_ids) = 0;
                    end loop;
                end loop;
            end $$;
            """;

    private ServerLimit() {}

    /** Messages a second with this many sessions at once. */
    static double drain(Bench bench, int messages, int sessions, int batch) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(sessions);
        try {
            long start = System.nanoTime();
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < sessions; i++) {
                running.add(threads.submit(() -> {
                    call(bench, batch);
                    return true;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
            return messages / ((System.nanoTime() - start) / 1e9);
        } finally {
            threads.shutdownNow();
        }
    }

    private static void call(Bench bench, int batch) throws SQLException {
        try (Connection connection = bench.pool.getConnection();
                Statement statement = connection.createStatement()) {
            boolean keep = !bench.outbox.queue().retention().isZero();
            statement.execute("call windlass_bench.drain(" + batch + ", " + keep + ")");
        }
    }
}
