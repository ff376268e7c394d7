package dev.windlass.spring;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;

/** There are several beans of a type, and Windlass cannot tell which one is meant. */
final class SeveralBeansException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    private SeveralBeansException(Class<?> type, Collection<String> beans) {
        super("expected one bean of type " + type.getSimpleName() + ", or a primary one, for Windlass, got "
                + String.join(", ", beans));
    }

    /**
     * The one that there is, or the primary one; nothing if there is none.
     *
     * @throws SeveralBeansException if there are more: to take none of them would not be noticed
     */
    static <T> Optional<T> orOnly(ObjectProvider<T> beans, Class<T> type) {
        try {
            return Optional.ofNullable(beans.getIfAvailable());
        } catch (NoUniqueBeanDefinitionException e) {
            Collection<String> found = e.getBeanNamesFound();
            throw new SeveralBeansException(type, found == null ? List.of() : found);
        }
    }
}
