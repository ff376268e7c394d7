package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The SQL on the pages for operators names tables, columns and indexes that there are. */
final class PostgresDocumentedSqlTest {
    private static final Pattern BLOCK = Pattern.compile("<!-- sql: (.*?) -->\n```sql\n");

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @ParameterizedTest
    @ValueSource(strings = {"docs/operations.md", "docs/troubleshooting.md"})
    void theServerUnderstandsAllOfIt(String page) throws IOException, SQLException {
        List<MatchResult> blocks =
                BLOCK.matcher(Repository.read(page)).results().toList();
        assertThat(blocks).hasSizeGreaterThan(5);
        for (MatchResult block : blocks) {
            String sql = Repository.documentedSql(page, block.group(1));
            database.execute(sql.replace("'windlass'", "'" + database.schema() + "'"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"docs/operations.md", "docs/troubleshooting.md"})
    void everyBlockOfSqlHasAName(String page) throws IOException {
        String text = Repository.read(page);
        assertThat(BLOCK.matcher(text).results().count()).isEqualTo(text.split("```sql\n", -1).length - 1);
    }
}
