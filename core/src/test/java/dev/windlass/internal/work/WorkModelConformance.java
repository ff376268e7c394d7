package dev.windlass.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.TopicLimit;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random steps of several workers, beside a model that fits on a page. One queue has items with keys, the other none. */
@OnEveryEngine
class WorkModelConformance extends WorkConformance {
    private static final String PLAIN = "plain";
    private static final String KEYED = "keyed";
    private static final int STEPS = 250;

    private final Map<WorkIdentifier, Item> model = new HashMap<>();
    private final Map<String, TopicLimit> limits = new HashMap<>();
    private final List<OwnerToken> owners =
            IntStream.range(0, 4).mapToObj(i -> OwnerToken.fresh()).toList();
    private Random random = new Random();
    private int turn;

    /** What is known of an item. */
    private static final class Item {
        final WorkIdentifier id;
        final WorkEntry entry;
        WorkStatus status = WorkStatus.READY;

        @Nullable
        OwnerToken owner;

        @Nullable
        String uniqueKey;

        boolean expired;
        boolean cancelAsked;
        int readySince;

        Item(WorkIdentifier id, WorkEntry entry, int readySince) {
            this.id = id;
            this.entry = entry;
            this.readySince = readySince;
            this.uniqueKey = entry.unique() == null ? null : entry.unique().key();
        }

        boolean counts() {
            return status == WorkStatus.IN_PROGRESS && !expired;
        }

        boolean isHeldBy(OwnerToken somebody) {
            return status == WorkStatus.IN_PROGRESS && somebody.equals(owner);
        }

        void end(WorkStatus how) {
            status = how;
            expired = false;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void whateverWorkersDoTheQueueIsAsTheModelSays(long seed) {
        random = new Random(seed);
        noClaimReapsByItself();
        for (turn = 0; turn < STEPS; turn++) {
            step();
            if (turn % 25 == 0) {
                compare(seed);
            }
        }
        compare(seed);
    }

    /** As one does that finds nothing, once the server runs for longer than a lease. */
    private void noClaimReapsByItself() {
        Instant now = database().now();
        database()
                .update("update %s.windlass_watch set seen_at = ?, quiet_until = ?", now, now.plus(Duration.ofDays(1)));
    }

    private void step() {
        switch (random.nextInt(13)) {
            case 0, 1, 2 -> enqueue();
            case 3, 4, 5 -> claim();
            case 6 -> ack();
            case 7 -> abandonOrRelease();
            case 8 -> fail();
            case 9 -> heartbeat();
            case 10 -> expireOrReap();
            case 11 -> cancelOrRequeue();
            default -> limit();
        }
    }

    private void enqueue() {
        String queue = random.nextBoolean() ? PLAIN : KEYED;
        List<WorkEntry> entries = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            WorkEntry entry = WorkEntry.of(queue, "type", "item").withPriority(random.nextInt(10));
            entries.add(queue.equals(KEYED) ? entry.withKey("key " + random.nextInt(3)) : entry);
        }
        if (random.nextInt(3) == 0) {
            String key = "unique " + random.nextInt(3);
            WorkEntry last = entries.get(0);
            entries = List.of(random.nextBoolean() ? last.ifAbsent(key) : last.replacing(key));
        }
        List<WorkIdentifier> ids = work.enqueueAll(entries);
        for (int i = 0; i < ids.size(); i++) {
            enqueued(ids.get(i), entries.get(i));
        }
    }

    private void enqueued(WorkIdentifier id, WorkEntry entry) {
        WorkEntry.Unique unique = entry.unique();
        Item known = unique == null ? null : holder(entry.queue(), unique.key());
        if (known != null && unique != null && !unique.replaces()) {
            assertThat(id).isEqualTo(known.id);
            return;
        }
        if (known != null && known.status == WorkStatus.READY) {
            model.remove(known.id);
        } else if (known != null) {
            known.uniqueKey = null;
        }
        assertThat(model).doesNotContainKey(id);
        model.put(id, new Item(id, entry, turn));
    }

    private @Nullable Item holder(String queue, String key) {
        return model.values().stream()
                .filter(item -> item.entry.queue().equals(queue)
                        && key.equals(item.uniqueKey)
                        && (item.status == WorkStatus.READY || item.status == WorkStatus.IN_PROGRESS))
                .findFirst()
                .orElse(null);
    }

    private List<Item> items(String queue, WorkStatus status) {
        return model.values().stream()
                .filter(item -> item.entry.queue().equals(queue) && item.status == status)
                .toList();
    }

    private void claim() {
        String queue = random.nextBoolean() ? PLAIN : KEYED;
        OwnerToken owner = any(owners);
        int wanted = 1 + random.nextInt(5);
        TopicLimit limit = limits.getOrDefault(queue, TopicLimit.none());
        List<Item> running = model.values().stream()
                .filter(item -> item.entry.queue().equals(queue) && item.counts())
                .toList();
        Integer most = limit.running();
        int room = most == null ? wanted : Math.min(wanted, Math.max(0, most - running.size()));
        List<Item> ready = items(queue, WorkStatus.READY);

        List<WorkItem> claimed = work.claim(queue, owner, LEASE, wanted);

        List<Item> taken = claimed.stream().map(item -> model.get(item.id())).toList();
        assertThat(ready).containsAll(taken);
        if (queue.equals(PLAIN)) {
            List<Item> expected = ready.stream()
                    .sorted(Comparator.comparing((Item item) -> -item.entry.priority())
                            .thenComparing(item -> item.readySince)
                            .thenComparing(item -> item.id.toString()))
                    .limit(room)
                    .toList();
            assertThat(taken).containsExactlyInAnyOrderElementsOf(expected);
        } else {
            assertThat(taken).hasSize(Math.min(room, available(ready, running, limit)));
        }
        taken.forEach(item -> {
            item.status = WorkStatus.IN_PROGRESS;
            item.owner = owner;
            item.expired = false;
        });
        Map<String, Long> before = byKey(running);
        assertThat(byKey(taken))
                .allSatisfy((key, count) ->
                        assertThat(count + before.getOrDefault(key, 0L)).isLessThanOrEqualTo(most(limit)));
    }

    /** How many could run if there were room for all. */
    private static int available(List<Item> ready, List<Item> running, TopicLimit limit) {
        Map<String, Long> busy = byKey(running);
        int sum = 0;
        for (Map.Entry<String, Long> each : byKey(ready).entrySet()) {
            long left = most(limit) - busy.getOrDefault(each.getKey(), 0L);
            sum += (int) Math.min(each.getValue(), Math.max(0, left));
        }
        return sum;
    }

    private static int most(TopicLimit limit) {
        Integer perKey = limit.perKey();
        return perKey == null ? Integer.MAX_VALUE : perKey;
    }

    private static Map<String, Long> byKey(List<Item> items) {
        return items.stream()
                .collect(Collectors.groupingBy(item -> String.valueOf(item.entry.key()), Collectors.counting()));
    }

    /** Some that this owner holds, and one that it may not. */
    private List<Item> some(OwnerToken owner) {
        List<Item> some = new ArrayList<>(model.values().stream()
                .filter(item -> item.isHeldBy(owner) && random.nextBoolean())
                .toList());
        model.values().stream()
                .skip(random.nextInt(model.size() + 1))
                .findFirst()
                .ifPresent(item -> {
                    if (!some.contains(item)) {
                        some.add(item);
                    }
                });
        return some;
    }

    private static List<WorkIdentifier> named(List<Item> items) {
        return items.stream().map(item -> item.id).toList();
    }

    private void ack() {
        OwnerToken owner = any(owners);
        List<Item> some = some(owner);
        long known = some.stream()
                .filter(item -> item.isHeldBy(owner) || (item.status == WorkStatus.DONE && owner.equals(item.owner)))
                .count();
        if (some.size() == 1 && random.nextBoolean()) {
            assertThat(work.complete(owner, some.get(0).id, "result")).isEqualTo(known == 1);
        } else {
            assertThat(work.ack(owner, named(some))).isEqualTo((int) known);
        }
        some.stream().filter(item -> item.isHeldBy(owner)).forEach(item -> item.end(WorkStatus.DONE));
    }

    private void abandonOrRelease() {
        OwnerToken owner = any(owners);
        List<Item> some = some(owner);
        List<Item> held = some.stream().filter(item -> item.isHeldBy(owner)).toList();
        int changed = random.nextBoolean()
                ? work.abandon(owner, named(some), Duration.ZERO, "again")
                : work.release(owner, named(some));
        assertThat(changed).isEqualTo(held.size());
        held.forEach(this::returned);
    }

    private void returned(Item item) {
        item.end(item.cancelAsked ? WorkStatus.CANCELLED : WorkStatus.READY);
        item.owner = null;
        item.readySince = turn;
    }

    private void fail() {
        OwnerToken owner = any(owners);
        List<Item> some = some(owner);
        long known = some.stream()
                .filter(item -> item.isHeldBy(owner) || (item.status == WorkStatus.FAILED && owner.equals(item.owner)))
                .count();
        assertThat(work.fail(owner, named(some), "no")).isEqualTo((int) known);
        some.stream().filter(item -> item.isHeldBy(owner)).forEach(item -> item.end(WorkStatus.FAILED));
    }

    private void heartbeat() {
        OwnerToken owner = any(owners);
        List<Item> some = some(owner);
        long kept = some.stream()
                .filter(item -> (item.isHeldBy(owner) && !item.expired)
                        || (item.status == WorkStatus.DONE && owner.equals(item.owner)))
                .count();
        assertThat(work.heartbeat(owner, named(some), LEASE)).isEqualTo((int) kept);
    }

    private void expireOrReap() {
        if (random.nextBoolean()) {
            expireLeases();
            model.values().stream().filter(Item::counts).forEach(item -> item.expired = true);
        } else {
            List<Item> expired =
                    model.values().stream().filter(item -> item.expired).toList();
            assertThat(work.reapExpired()).isEqualTo(expired.size());
            expired.forEach(this::returned);
        }
    }

    private void cancelOrRequeue() {
        Item item = model.values().stream()
                .skip(random.nextInt(model.size() + 1))
                .findFirst()
                .orElse(null);
        if (item == null) {
            return;
        }
        if (random.nextBoolean()) {
            boolean open = item.status == WorkStatus.READY || item.status == WorkStatus.IN_PROGRESS;
            assertThat(work.cancel(item.id)).isEqualTo(open);
            item.cancelAsked |= item.status == WorkStatus.IN_PROGRESS;
            if (item.status == WorkStatus.READY) {
                item.end(WorkStatus.CANCELLED);
            }
        } else {
            boolean can = item.status == WorkStatus.FAILED
                    && (item.uniqueKey == null || holder(item.entry.queue(), item.uniqueKey) == null);
            assertThat(work.operator("anna").requeue(List.of(item.id), Attempts.RESET))
                    .isEqualTo(can ? 1 : 0);
            if (can) {
                item.cancelAsked = false;
                returned(item);
            }
        }
    }

    private void limit() {
        String queue = random.nextBoolean() ? PLAIN : KEYED;
        TopicLimit limit =
                random.nextInt(3) == 0 ? TopicLimit.none() : TopicLimit.none().withRunning(1 + random.nextInt(5));
        if (queue.equals(KEYED) && random.nextBoolean()) {
            limit = limit.withPerKey(1 + random.nextInt(2));
        }
        work.operator("anna").limit(queue, limit);
        limits.put(queue, limit);
    }

    private void compare(long seed) {
        Map<String, String> stored = new HashMap<>();
        for (String row : database().rows("select id, status from %s.work")) {
            stored.put(row.split(" ", 2)[0], row.split(" ", 2)[1]);
        }
        Map<String, String> expected = new HashMap<>();
        model.forEach((id, item) -> expected.put(id.toString(), Integer.toString(item.status.code())));
        assertThat(stored).as("seed %d, turn %d", seed, turn).isEqualTo(expected);
    }

    private <T> T any(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }
}
