package dev.windlass.spring;

import dev.windlass.base.TransactionEnd;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Hears of the transactions of one manager that begin inside of one on a data source of Windlass's. If nobody follows that, since its manager is no
 * bean, it is open until the inner one has ended, also while listeners of the inner one are called.
 */
final class InnerTransactions implements TransactionExecutionListener {
    private final Map<DataSource, SpringTransactions> all;
    private final @Nullable DataSource own;

    /**
     * @param all by their data sources; there may be more later
     * @param own the data source of the manager, if it tells
     */
    InnerTransactions(Map<DataSource, SpringTransactions> all, @Nullable DataSource own) {
        this.all = all;
        this.own = own;
    }

    @Override
    public void afterBegin(TransactionExecution inner, @Nullable Throwable failure) {
        if (failure == null) {
            around().forEach(each -> each.isOpenFor(inner));
        }
    }

    @Override
    public void afterCommit(TransactionExecution inner, @Nullable Throwable failure) {
        ended(inner);
    }

    @Override
    public void afterRollback(TransactionExecution inner, @Nullable Throwable failure) {
        ended(inner);
    }

    /** How the outer one ends, nobody here will know. */
    private void ended(TransactionExecution inner) {
        around().forEach(each -> each.ended(inner, TransactionEnd.UNKNOWN));
    }

    /** Of what is bound to the thread, which is little, however many databases there are. */
    private List<SpringTransactions> around() {
        return TransactionSynchronizationManager.getResourceMap().keySet().stream()
                .filter(key -> key instanceof DataSource && key != own)
                .map(all::get)
                .filter(Objects::nonNull)
                .toList();
    }
}
