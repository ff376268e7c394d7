package dev.windlass;

import dev.windlass.base.Feature;
import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.database.PoolSize;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A pool that is too small is a node that waits for itself; better to say so before it starts. */
final class PoolCheck {
    private static final Logger log = LoggerFactory.getLogger(Windlass.class);

    /** To claim, and to write outcomes. */
    private static final int FOR_MOMENTS = 2;

    private final WindlassBuilder builder;
    private final FeatureNodes nodes;

    PoolCheck(WindlassBuilder builder, FeatureNodes nodes) {
        this.builder = builder;
        this.nodes = nodes;
    }

    void run() {
        int kept = keepsConnection(builder.options) ? 1 : 0;
        boolean shared = builder.background == null;
        if (builder.options.backgroundWorkers()) {
            check(builder.dataSource, shared ? kept : 0, FOR_MOMENTS);
        }
        if (builder.background != null) {
            check(builder.background, kept, 0);
        }
    }

    /** For heartbeats where there are handlers, and for notifications where anybody heeds them. */
    private boolean keepsConnection(WindlassOptions options) {
        boolean handles = nodes.dispatchers().stream()
                .anyMatch(dispatcher -> !dispatcher.topics().isEmpty());
        return handles || (options.wakeUp() && nodes.has(Feature.SCHEDULE));
    }

    private void check(DataSource pool, int kept, int forMoments) {
        PoolSize.of(pool).ifPresent(size -> {
            if (size < kept + forMoments) {
                log.warn(
                        "[{}] needs {} connections for itself ({} is kept, {} are used for moments); the pool has {}: make it larger by"
                                + " what handlers use",
                        nodes.database.name(),
                        kept + forMoments,
                        kept,
                        forMoments,
                        size);
            }
        });
    }
}
