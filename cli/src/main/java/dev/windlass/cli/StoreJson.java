package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Stores for other programs; what is not there is null. */
final class StoreJson {

    private StoreJson() {}

    static ObjectNode of(StoreAnswer answer) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("id", answer.store().id())
                .put("database", answer.store().database())
                .put("schema", answer.store().schema().schema)
                .put("reachable", answer.condition() != StoreCondition.UNREACHABLE)
                .put("state", answer.condition().name())
                .put("problem", answer.problem());
        ArrayNode components = json.putArray("components");
        answer.installed()
                .all()
                .forEach(installed -> components
                        .addObject()
                        .put("component", installed.component())
                        .put("table", installed.table())
                        .put("version", installed.version()));
        ArrayNode pending = json.putArray("pending");
        answer.pending().forEach(pending::add);
        return json;
    }

    /** The same with its numbers. */
    static ObjectNode withStatus(StoreAnswer answer) {
        Status status = answer.status();
        return of(answer).set("status", status == null ? null : status.json());
    }
}
