package dev.windlass.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Who gets what, and in which order. */
@OnEveryEngine
class WorkClaimConformance extends WorkConformance {

    @Test
    void aClaimTellsWhatToDoForWhomAndUntilWhen() {
        WorkIdentifier id = work.enqueue(item("do it").withCorrelationId("order 7"));
        OwnerToken owner = OwnerToken.fresh();

        assertThat(claim(owner, 1)).singleElement().satisfies(item -> {
            assertThat(item.id()).isEqualTo(id);
            assertThat(item.payload()).isEqualTo("do it");
            assertThat(item.queue()).isEqualTo("queue");
            assertThat(item.type()).isEqualTo("type");
            assertThat(item.priority()).isEqualTo(4);
            assertThat(item.status()).isEqualTo(WorkStatus.IN_PROGRESS);
            assertThat(item.claimedBy()).contains(owner);
            assertThat(item.leaseExpiresAt())
                    .contains(item.startedAt().orElseThrow().plus(LEASE));
            assertThat(item.updatedAt()).isEqualTo(item.startedAt().orElseThrow());
        });
        assertThat(claim(1)).isEmpty();
    }

    @Test
    void theHigherPriorityComesFirstAndThenWhatWasWrittenFirst() {
        work.enqueueAll(List.of(
                item("normal 1"),
                item("low").withPriority(0),
                item("high 1").withPriority(9),
                item("normal 2"),
                item("high 2").withPriority(9)));

        assertThat(claimOneByOne(6)).containsExactly("high 1", "high 2", "normal 1", "normal 2", "low");
    }

    @Test
    void aClaimOfManyTakesTheSameAsClaimsOfOne() {
        work.enqueueAll(IntStream.range(0, 40)
                .mapToObj(i -> item("item " + i).withPriority(i % 10))
                .toList());

        assertThat(claim(12))
                .containsExactly(
                        "item 9", "item 19", "item 29", "item 39", "item 8", "item 18", "item 28", "item 38", "item 7",
                        "item 17", "item 27", "item 37");
    }

    @Test
    void anItemThatIsNotYetToRunIsLeftWhateverItsPriority() {
        work.enqueue(item("later").withPriority(9).withDelay(Duration.ofHours(1)));
        work.enqueue(item("now").withPriority(0));

        assertThat(claim(2)).containsExactly("now");
    }

    @Test
    void otherQueuesAreLeftAlone() {
        work.enqueue(WorkEntry.of("other", "type", "theirs"));
        work.enqueue(item("mine"));

        assertThat(claim(10)).containsExactly("mine");
        assertThat(payloads(work.claim(OwnerToken.fresh(), LEASE, 10))).containsExactly("theirs");
    }

    @Test
    void whatHasWaitedLongEnoughOvertakesAHigherPriority() {
        use(OPTIONS.withAgeing(Duration.ofMinutes(10)));
        work.enqueue(item("old and low").withPriority(2));
        work.enqueue(item("younger and low").withPriority(2));
        age(Duration.ofMinutes(21));
        work.enqueue(item("new and normal"));
        work.enqueue(item("new and high").withPriority(9));

        assertThat(claimOneByOne(4))
                .containsExactly("new and high", "old and low", "younger and low", "new and normal");
    }

    @Test
    void withoutAgeingPrioritiesAreStrict() {
        use(OPTIONS.withAgeing(Duration.ZERO));
        work.enqueue(item("old and low").withPriority(2));
        age(Duration.ofDays(21));
        work.enqueue(item("new and normal"));

        assertThat(claimOneByOne(2)).containsExactly("new and normal", "old and low");
    }

    @Test
    void itemsWithKeysAreTakenInTurns() {
        List<WorkEntry> entries = new ArrayList<>();
        IntStream.range(0, 100).forEach(i -> entries.add(item("greedy").withKey("greedy")));
        IntStream.range(0, 3).forEach(i -> entries.add(item("modest").withKey("modest")));
        work.enqueueAll(entries);

        assertThat(claim(6)).filteredOn("modest"::equals).hasSizeGreaterThanOrEqualTo(2);
    }

    @Test
    void withinAKeyThePriorityDecides() {
        work.enqueue(item("second").withKey("a"));
        work.enqueue(item("first").withKey("a").withPriority(8));

        assertThat(claimOneByOne(2)).containsExactly("first", "second");
    }

    @Test
    void nothingWithoutAKeyWaitsForeverForWhatHasOne() {
        work.enqueueAll(IntStream.range(0, 200)
                .mapToObj(i -> item("keyed").withKey("k" + i))
                .toList());
        work.enqueue(item("plain"));

        assertThat(claim(10)).contains("plain");
    }

    @Test
    void whatHasNoKeyAndWhatHasOneAreBothClaimedToTheEnd() {
        List<WorkEntry> entries = new ArrayList<>();
        IntStream.range(0, 57)
                .forEach(i -> entries.add(
                        i % 3 == 0 ? item("plain " + i) : item("keyed " + i).withKey("k" + i % 5)));
        work.enqueueAll(entries);

        List<String> claimed = new ArrayList<>();
        for (List<String> some = claim(7); !some.isEmpty(); some = claim(7)) {
            claimed.addAll(some);
        }
        assertThat(claimed)
                .containsExactlyInAnyOrderElementsOf(
                        entries.stream().map(WorkEntry::payload).toList());
    }

    @Test
    void anItemWhoseLeaseRanOutIsTakenByTheNextClaimThatFindsNothingElse() {
        work.enqueue(item("left behind"));
        OwnerToken dead = OwnerToken.fresh();
        WorkItem lost = claim(dead, 1).get(0);
        expireLeases();

        OwnerToken heir = OwnerToken.fresh();
        List<WorkItem> taken = new ArrayList<>();
        while (taken.isEmpty()) { // at first nobody knows whether living owners have had the time to renew
            taken.addAll(work.claim("queue", heir, Duration.ofMillis(10), 1));
        }

        assertThat(taken).singleElement().satisfies(item -> {
            assertThat(item.id()).isEqualTo(lost.id());
            assertThat(item.leaseExpiries()).isEqualTo(1);
        });
        assertThat(work.ack(dead, List.of(lost.id()))).isZero();
        assertThat(work.heartbeat(dead, List.of(lost.id()), LEASE)).isZero();
    }

    @Test
    void expiredLeasesOfAnotherQueueHinderNobodyHoweverManyThereAre() {
        work.enqueueAll(Collections.nCopies(1000, WorkEntry.of("other", "type", "left behind")));
        assertThat(work.claim("other", OwnerToken.fresh(), LEASE, 1000)).hasSize(1000);
        expireLeases();

        long expired = 1000;
        while (expired > 0) { // at first nobody knows whether living owners have had the time to renew
            assertThat(work.claim("queue", OwnerToken.fresh(), Duration.ofMillis(500), 1))
                    .isEmpty();
            expired = database().value(Long.class, "select count(*) from %s.work where status = 1");
        }
    }
}
