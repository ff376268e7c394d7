package dev.windlass.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BinariesTest {

    @TempDir
    private Path cache;

    @Test
    void twoThatUnpackAtOnceShareOneWholeCopy() throws Exception {
        CyclicBarrier together = new CyclicBarrier(2);
        Callable<Binaries> unpack = () -> {
            together.await();
            return Binaries.unpacked(Platform.current().archive(), cache);
        };
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<Future<Binaries>> both = threads.invokeAll(List.of(unpack, unpack));
            assertThat(both.get(0).get()).isEqualTo(both.get(1).get());
            Binaries binaries = both.get(0).get();
            assertThat(binaries.program("postgres")).isExecutable();
            assertThat(Command.probe(List.of(binaries.program("postgres").toString(), "--version")))
                    .startsWith("postgres (PostgreSQL)");
            try (Stream<Path> left = Files.list(cache)) {
                assertThat(left).containsExactly(binaries.home());
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
