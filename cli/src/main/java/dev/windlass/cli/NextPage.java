package dev.windlass.cli;

import dev.windlass.operator.Page;
import dev.windlass.operator.PagePosition;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** A list page by page; below a full page stands the command for the next. */
final class NextPage {

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init")
    private CommandSpec command;

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(
            names = "--after",
            paramLabel = "POSITION",
            converter = Position.class,
            description = "Begin after this position, which the page before printed.")
    private @Nullable PagePosition after;

    int limit() {
        return page.limit;
    }

    boolean isJson() {
        return page.json;
    }

    <M> Page<M> read(Supplier<Page<M>> first, Function<PagePosition, Page<M>> following) {
        return after == null ? first.get() : following.apply(after);
    }

    /**
     * Beside the list, where that is for programs.
     *
     * @param words those that choose what is listed
     */
    void say(Page<?> shown, List<String> words, OutboxAccess access, OutboxSession session) {
        shown.next().ifPresent(position -> {
            List<String> all = new ArrayList<>(words);
            all.addAll(page.words());
            all.addAll(List.of("--after", position.text()));
            PrintWriter where = page.json ? command.commandLine().getErr() : session.out();
            where.println("next page: " + access.commandWith(all));
            where.flush();
        });
    }

    private static final class Position implements ITypeConverter<PagePosition> {
        @Override
        public PagePosition convert(String value) {
            try {
                return new PagePosition(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }
}
