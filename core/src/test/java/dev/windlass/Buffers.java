package dev.windlass;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** How much PostgreSQL reads for a statement. */
public final class Buffers {

    private Buffers() {}

    /** The buffers a statement touches, what happens inside of routines included. */
    public static long of(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("explain (analyze, buffers, timing off, format json) " + sql)) {
            row.next();
            JsonNode plan = new ObjectMapper().readTree(row.getString(1)).get(0).get("Plan");
            return plan.get("Shared Hit Blocks").asLong()
                    + plan.get("Shared Read Blocks").asLong();
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
