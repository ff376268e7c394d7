package dev.windlass.spring;

import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** What only JPA knows of a transaction: its callbacks run inside of the commit, some before the end and some after it. */
final class JpaTransactions {
    private static final boolean PRESENT = ClassUtils.isPresent(
            "org.springframework.orm.jpa.EntityManagerHolder", JpaTransactions.class.getClassLoader());

    private JpaTransactions() {}

    /**
     * Whether the transaction that JPA's manager has begun on this data source has ended, although Spring still shows it. Of entity managers that
     * only take part in it, none has a transaction of its own.
     */
    static boolean hasEnded(DataSource source) {
        if (!PRESENT) {
            return false;
        }
        List<EntityManagerHolder> holders = TransactionSynchronizationManager.getResourceMap().entrySet().stream()
                .filter(bound -> bound.getKey() instanceof EntityManagerFactoryInfo factory && isOn(source, factory))
                .map(Map.Entry::getValue)
                .filter(EntityManagerHolder.class::isInstance)
                .map(EntityManagerHolder.class::cast)
                .toList();
        return !holders.isEmpty()
                && holders.stream()
                        .noneMatch(
                                each -> each.getEntityManager().getTransaction().isActive());
    }

    private static boolean isOn(DataSource source, EntityManagerFactoryInfo factory) {
        DataSource its = factory.getDataSource();
        return its != null && TransactionManagers.unwrapped(its) == source;
    }
}
