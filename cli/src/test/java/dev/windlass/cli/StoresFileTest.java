package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class StoresFileTest {

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path directory;

    @Test
    void valuesAreTakenAsTheyStandThere() throws IOException {
        List<StoresFile.Entry> entries = StoresFile.read(file("""
                # north = of a comment
                north=jdbc:postgresql://db1/north?sslmode=require
                  north.user =  me
                north.password = a\\b = "c" #d
                south = jdbc:postgresql://db2/south
                south.schema = tenant-7
                """));
        assertThat(entries)
                .containsExactly(
                        new StoresFile.Entry(
                                "north",
                                new Target("jdbc:postgresql://db1/north?sslmode=require", "me", "a\\b = \"c\" #d"),
                                Optional.empty()),
                        new StoresFile.Entry(
                                "south",
                                new Target("jdbc:postgresql://db2/south", null, null),
                                Optional.of("tenant-7")));
        assertThat(entries.toString()).doesNotContain("\"c\"");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ''                                            | expected a line such as north = jdbc:postgresql://host:5432/database, found no store
            # nothing                                     | found no store
            north                                         | line 1: expected a key, an equals sign and a value, found no equals sign
            north.password s3cret                         | line 1: expected a key, an equals sign and a value
            north = URL;north.password s3cret=            | line 2: expected an equals sign after 'north.password', found something else
            north =                                       | line 1: expected a value for 'north', found none
            = URL                                         | line 1: expected the identifier of a store without blanks, got ''
            my store = URL                                | line 1: expected the identifier of a store without blanks, got 'my store'
            north = URL;south = URL;north = URL           | line 3: expected each key once, got 'north' again, which is in line 1
            north = URL;north.user = a;north.user = b     | line 3: expected each key once, got 'north.user' again
            north = URL;north.pasword = s3cret            | line 2: expected the identifier of a store, which has no dot, or one with .schema, .user or .password, got 'north.pasword'
            north = URL;north.a.user = s3cret             | line 2: expected the identifier of a store, which has no dot
            south = URL;north.password = s3cret           | line 2: expected a line 'north = URL' beside 'north.password', found none
            north = postgres://me:s3cret@host/db          | line 1: expected a URL such as jdbc:postgresql://host:5432/database, got postgres://me:****@host/db
            north = jdbc:mysql://host/db?password=s3cret  | line 1: expected a URL such as
            north = URL;north.schema = a$b                | line 2: expected a schema
            """)
    void whatCannotBeReadIsRefusedWithItsLineAndWithoutItsValue(String text, String why) throws IOException {
        Path file = file(text.replace(";", "\n").replace("URL", "jdbc:postgresql://127.0.0.1:1/db"));
        for (String command : List.of("list", "status", "migrate")) {
            Ran ran = Ran.windlass("stores", command, "--file", file.toString());
            assertThat(ran.exitCode()).isEqualTo(2);
            assertThat(ran.out()).isEmpty();
            assertThat(ran.err())
                    .startsWith("windlass: --file " + file + ": ")
                    .contains(why, "--help'.")
                    .doesNotContain("s3cret");
        }
    }

    @Test
    void marksAndLineEndsOfOtherSystemsAreNoPartOfValues() throws IOException {
        assertThat(StoresFile.read(
                        file("\uFEFF# the fleet\r\nnorth = jdbc:postgresql://db1/north\r\nnorth.user = me\r\n")))
                .containsExactly(new StoresFile.Entry(
                        "north", new Target("jdbc:postgresql://db1/north", "me", null), Optional.empty()));
    }

    @Test
    void aFileThatCannotBeReadIsRefused() throws IOException {
        String missing = directory.resolve("none").toString();
        assertThat(Ran.windlass("stores", "list", "--file", missing).err())
                .contains(missing + ": expected a file that can be read, got NoSuchFileException");
        Path binary = Files.write(directory.resolve("binary"), new byte[] {'a', '=', (byte) 0xff, '\n'});
        assertThat(Ran.windlass("stores", "list", "--file", binary.toString()).err())
                .contains("expected text in UTF-8");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://a:1,b:2/db?sslmode=require | jdbc:postgresql://a:1,b:2/t+%2F1?sslmode=require",
                "jdbc:postgresql://host/?user=me | jdbc:postgresql://host/t+%2F1?user=me",
                "jdbc:postgresql:///db | jdbc:postgresql:///t+%2F1",
                "jdbc:postgresql:db | jdbc:postgresql:t+%2F1"
            })
    void anotherDatabaseOfTheServerIsNamedInTheSameUrl(String urls) {
        String[] parts = urls.split(" \\| ", -1);
        Target other = new Target(parts[0], "me", null).withDatabase("t /1");
        assertThat(other.url()).isEqualTo(parts[1]);
        assertThat(other.databaseName()).isEqualTo("t /1");
    }

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("stores.properties"), text);
    }
}
