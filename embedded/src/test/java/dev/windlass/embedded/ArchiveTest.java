package dev.windlass.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

final class ArchiveTest {

    @TempDir
    private Path temp;

    @Test
    void modesAndLinksAreKept() throws Exception {
        InputStream txz = archive(tar -> {
            file(tar, "bin/run", 0755);
            file(tar, "share/text", 0644);
            link(tar, "bin/also", "run");
        });

        Path target = unpack(txz);

        assertThat(target.resolve("bin/run")).isExecutable().hasContent("content");
        assertThat(Files.isExecutable(target.resolve("share/text"))).isFalse();
        assertThat(Files.readSymbolicLink(target.resolve("bin/also"))).hasToString("run");
    }

    @ParameterizedTest
    @ValueSource(strings = {"../evil", "bin/../../evil", "/tmp/windlass-evil"})
    void fileThatLeavesTheDirectoryIsRefused(String name) throws Exception {
        InputStream txz = archive(tar -> file(tar, name, 0644));

        assertThatThrownBy(() -> unpack(txz))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("leaves the directory");
        assertThat(temp.resolve("evil")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"..", "../../etc", "/etc"})
    void linkThatLeavesTheDirectoryIsRefused(String to) throws Exception {
        InputStream txz = archive(tar -> link(tar, "out", to));

        assertThatThrownBy(() -> unpack(txz))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("leaves the directory");
    }

    @Test
    void fileBehindAChainOfLinksThatLeavesTheDirectoryIsRefused() throws Exception {
        InputStream txz = archive(tar -> {
            link(tar, "deep/down/top", "../..");
            link(tar, "deep/down/out", "top/..");
            file(tar, "deep/down/out/evil", 0644);
        });

        assertThatThrownBy(() -> unpack(txz))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("leaves the directory");
        assertThat(temp.resolve("evil")).doesNotExist();
    }

    private Path unpack(InputStream txz) throws IOException {
        Path target = Files.createDirectory(temp.resolve("target"));
        Archive.unpack(txz, target);
        return target;
    }

    private interface Content {
        void write(TarArchiveOutputStream tar) throws IOException;
    }

    private static InputStream archive(Content content) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (var tar = new TarArchiveOutputStream(new XZOutputStream(bytes, new LZMA2Options(0)))) {
            content.write(tar);
        }
        return new ByteArrayInputStream(bytes.toByteArray());
    }

    private static void file(TarArchiveOutputStream tar, String name, int mode) throws IOException {
        byte[] content = "content".getBytes(StandardCharsets.UTF_8);
        TarArchiveEntry entry = new TarArchiveEntry(name, true);
        entry.setSize(content.length);
        entry.setMode(mode);
        tar.putArchiveEntry(entry);
        tar.write(content);
        tar.closeArchiveEntry();
    }

    private static void link(TarArchiveOutputStream tar, String name, String to) throws IOException {
        TarArchiveEntry entry = new TarArchiveEntry(name, TarConstants.LF_SYMLINK);
        entry.setLinkName(to);
        tar.putArchiveEntry(entry);
        tar.closeArchiveEntry();
    }
}
