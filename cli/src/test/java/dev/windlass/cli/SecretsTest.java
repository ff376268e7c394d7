package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SecretsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://host/db?user=me&password=hidden",
                "jdbc:postgresql://host/db?PASSWORD=hidden&user=me",
                "jdbc:postgresql://host/db?sslpassword=hidden",
                "jdbc:postgresql://me:hidden@host/db",
                "jdbc:postgresql://me:hidden@hidden@host:5432/db",
                "postgres://me:hid/hidden@host/db",
                "postgres://me:hid?hidden@host:5432/db",
                "host=h password='my hidden' user=me",
                "jdbc:sqlserver://host;password=hidden;encrypt=true",
                "(SQLSTATE 08001): UnknownHostException: me:hidden@host; check the address",
                "an error about jdbc:postgresql://host/db?password=hidden and more"
            })
    void passwordsAreMasked(String text) {
        assertThat(Secrets.mask(text)).doesNotContain("hidden").contains("****");
    }

    @Test
    void whatFollowsAPasswordStays() {
        String text = "could not connect to jdbc:postgresql://host/db?password=hidden: refused";
        String masked = "could not connect to jdbc:postgresql://host/db?password=****: refused";
        assertThat(Secrets.mask(text)).isEqualTo(masked);
        assertThat(Secrets.mask(masked)).isEqualTo(masked);
        assertThat(Secrets.mask("password=hid:den:; x")).isEqualTo("password=****:; x");
    }

    @Test
    void everythingElseStays() {
        for (String url : new String[] {
            "jdbc:postgresql://one:5432,two:5433/db?user=me&sslmode=require",
            "jdbc:postgresql://host:5432/db?user=me@corp",
            "could not connect to jdbc:postgresql://host:5432/db: refused"
        }) {
            assertThat(Secrets.mask(url)).isEqualTo(url);
        }
    }
}
