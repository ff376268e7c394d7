package dev.windlass.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

final class BinariesTest {

    @TempDir
    private Path cache;

    @TempDir
    private Path archives;

    @Test
    void archivesOfTwoVersionsAreKeptApart() throws Exception {
        URL archive = archive("15.19"); // made once: it has the time in it
        Binaries older = Binaries.unpacked(archive, cache);
        Binaries newer = Binaries.unpacked(archive("18.6"), cache);

        assertThat(older.version()).isEqualTo(15);
        assertThat(newer.version()).isEqualTo(18);
        assertThat(newer.home()).isNotEqualTo(older.home());
        assertThat(Binaries.unpacked(archive, cache)).isEqualTo(older);
    }

    @Test
    void programsThatDoNotTellTheirVersionAreRefused() {
        assertThatThrownBy(() -> Binaries.unpacked(archive("of yesterday"), cache))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("got \"postgres (PostgreSQL) of yesterday\"");
    }

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
            assertThat(binaries.version()).isGreaterThanOrEqualTo(15);
            try (Stream<Path> left = Files.list(cache)) {
                assertThat(left).containsExactly(binaries.home());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** All versions come under one name. */
    private URL archive(String version) throws IOException {
        Path file = Files.createDirectories(archives.resolve(version)).resolve("postgres-linux-x86_64.txz");
        byte[] script = "#!/bin/sh%necho 'postgres (PostgreSQL) %s'%n"
                .formatted(version)
                .getBytes(StandardCharsets.UTF_8);
        try (var tar =
                new TarArchiveOutputStream(new XZOutputStream(Files.newOutputStream(file), new LZMA2Options(0)))) {
            TarArchiveEntry entry = new TarArchiveEntry("bin/postgres");
            entry.setSize(script.length);
            entry.setMode(0755);
            tar.putArchiveEntry(entry);
            tar.write(script);
            tar.closeArchiveEntry();
        }
        return file.toUri().toURL();
    }
}
