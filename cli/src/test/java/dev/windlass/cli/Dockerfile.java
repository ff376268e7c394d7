package dev.windlass.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The instructions of a Dockerfile, one after another, with continued lines put together. */
record Dockerfile(List<Instruction> instructions) {

    /**
     * @param stage counts the FROM before it, from one on
     */
    record Instruction(int stage, String name, String rest) {

        /** The words of an exec form. */
        List<String> words() {
            Matcher word = Pattern.compile("\"([^\"]*)\"").matcher(rest);
            return word.results().map(found -> found.group(1)).toList();
        }

        boolean isExecForm() {
            return rest.startsWith("[") && rest.endsWith("]");
        }

        /** What a COPY takes: all but its options and the last word. */
        List<String> sources() {
            List<String> words = Stream.of(rest.split("\\s+", -1))
                    .filter(word -> !word.startsWith("--"))
                    .toList();
            return words.subList(0, words.size() - 1);
        }
    }

    static Dockerfile parse(String text) {
        List<Instruction> instructions = new ArrayList<>();
        int stage = 0;
        String joined = text.replaceAll("(?m)^\\s*#.*\\R", "").replaceAll("\\\\\\R\\s*", "");
        for (String line : joined.lines().filter(each -> !each.isBlank()).toList()) {
            String[] parts = line.strip().split("\\s+", 2);
            String name = parts[0].toUpperCase(Locale.ROOT);
            stage += name.equals("FROM") ? 1 : 0;
            instructions.add(new Instruction(stage, name, parts[1]));
        }
        return new Dockerfile(instructions);
    }

    List<Instruction> all(String name) {
        return instructions.stream().filter(each -> each.name().equals(name)).toList();
    }

    /** Those of the stage that becomes the image. */
    List<Instruction> last(String name) {
        int stages = all("FROM").size();
        return all(name).stream().filter(each -> each.stage() == stages).toList();
    }
}
