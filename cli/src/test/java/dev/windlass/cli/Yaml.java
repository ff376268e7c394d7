package dev.windlass.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A place in a document, reached key by key; an error names the way to a key that is missing. */
record Yaml(String way, @Nullable Object value) {

    static List<Yaml> documents(String text) {
        List<Yaml> documents = new ArrayList<>();
        for (Object document : new org.yaml.snakeyaml.Yaml().loadAll(text)) {
            documents.add(new Yaml("", document));
        }
        return documents;
    }

    /** Steps into maps by their keys and into lists by their numbers. */
    Yaml at(Object... keys) {
        Yaml place = this;
        for (Object key : keys) {
            place = place.step(key);
        }
        return place;
    }

    boolean has(String key) {
        return map().containsKey(key);
    }

    Set<String> keys() {
        return map().keySet().stream().map(String::valueOf).collect(Collectors.toSet());
    }

    String text() {
        return String.valueOf(value);
    }

    List<Yaml> all() {
        List<Yaml> all = new ArrayList<>();
        for (int i = 0; i < ((List<?>) present()).size(); i++) {
            all.add(step(i));
        }
        return all;
    }

    List<String> texts() {
        return all().stream().map(Yaml::text).toList();
    }

    private Yaml step(Object key) {
        String further = way + "/" + key;
        if (key instanceof Integer index) {
            return new Yaml(further, ((List<?>) present()).get(index));
        }
        if (!map().containsKey(key)) {
            throw new AssertionError("expected " + further + ", found only " + map().keySet());
        }
        return new Yaml(further, map().get(key));
    }

    private Map<?, ?> map() {
        return (Map<?, ?>) present();
    }

    private Object present() {
        if (value == null) {
            throw new AssertionError("expected something in " + way + ", found nothing");
        }
        return value;
    }
}
