package dev.windlass;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxHandler;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxOperator;
import dev.windlass.inbox.SeenMessage;
import dev.windlass.lease.Leadership;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseSemaphore;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.runtime.Call;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.SafeCopies;
import dev.windlass.runtime.SqlError;
import dev.windlass.runtime.Transactions;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Jobs;
import dev.windlass.schema.Migrator;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;
import java.util.Calendar;
import java.util.Date;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** What holds the packages together, each rule with its reason. */
@AnalyzeClasses(packages = "dev.windlass", importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {

    @ArchTest
    static final ArchRule featuresDoNotSeeEngines = noClasses()
            .that()
            .resideOutsideOfPackages("dev.windlass.engine..", "dev.windlass.embedded..")
            .and()
            .doNotHaveFullyQualifiedName(Windlass.Builder.class.getName())
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.windlass.engine..", "org.postgresql..")
            .because("a second engine must be able to take the place of the first; only the builder chooses one");

    @ArchTest
    static final ArchRule nobodyReadsTheWallClock = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("dev.windlass.runtime.TimeOrderedIds")
            .and()
            .doNotHaveFullyQualifiedName("dev.windlass.lease.TrustWindow")
            .should()
            .accessTargetWhere(describe("read the wall clock", ArchitectureTest::readsTheWallClock))
            .because("the database's clock decides, and this machine's may be wrong by hours;"
                    + " ids take it for their order only, and nobody compares them with a time;"
                    + " a holder of a lease takes it only to doubt the lease earlier");

    private static boolean readsTheWallClock(JavaAccess<?> access) {
        JavaClass owner = access.getTargetOwner();
        String name = access.getName();
        return (owner.isEquivalentTo(System.class) && name.equals("currentTimeMillis"))
                || (owner.getPackageName().equals("java.time") && name.equals("now"))
                || (owner.isAssignableTo(Date.class) && name.equals("<init>"))
                || owner.isAssignableTo(InstantSource.class)
                || owner.isAssignableTo(Calendar.class);
    }

    @ArchTest
    static final ArchRule theOutputBelongsToTheProgram = noClasses()
            .should()
            .accessField(System.class, "out")
            .orShould()
            .accessField(System.class, "err")
            .orShould()
            .dependOnClassesThat()
            .resideInAPackage("java.util.logging..")
            .because("a library logs through SLF4J, where the program decides what is shown");

    @ArchTest
    static final ArchRule errorsOfTheDatabaseAreToldInOnePlace = noClasses()
            .that()
            .resideOutsideOfPackages("dev.windlass.engine..", "dev.windlass.embedded..")
            .and()
            .doNotHaveFullyQualifiedName(SafeCopies.class.getName())
            .should()
            .accessTargetWhere(describe("read the text of a database's error", ArchitectureTest::readsTheText))
            .because("the server quotes rows in it; Database describes an error without them");

    private static boolean readsTheText(JavaAccess<?> access) {
        JavaClass owner = access.getTargetOwner();
        return owner.isAssignableTo(SQLException.class)
                && !owner.isAssignableTo(SqlError.class)
                && Set.of(
                                "getMessage",
                                "getLocalizedMessage",
                                "toString",
                                "printStackTrace",
                                "getNextException",
                                "iterator")
                        .contains(access.getName());
    }

    @ArchTest
    static final ArchRule statementsRunWhereTheirErrorsAreMadeFitToBeTold = noClasses()
            .that()
            .resideOutsideOfPackages("dev.windlass.engine..", "dev.windlass.embedded..")
            .and(are(not(anyOf(Call.class, Database.class, Transactions.class, Migrator.class))))
            .should()
            .accessTargetWhere(describe("connect to a database or run a statement", ArchitectureTest::runsStatements))
            .because("an error of theirs may quote a row; whoever goes through Database and Call need not think of it");

    private static DescribedPredicate<JavaClass> anyOf(Class<?>... types) {
        return describe(
                "one of those that speak to the database",
                type -> Stream.of(types).anyMatch(type.getEnclosingClass().orElse(type)::isEquivalentTo));
    }

    private static boolean runsStatements(JavaAccess<?> access) {
        JavaClass owner = access.getTargetOwner();
        return owner.isAssignableTo(Statement.class)
                || owner.isAssignableTo(DataSource.class)
                || (owner.isAssignableTo(Connection.class)
                        && Set.of("createStatement", "prepareStatement", "prepareCall", "commit")
                                .contains(access.getName()));
    }

    @ArchTest
    static final ArchRule cronStandsAlone = classes()
            .that()
            .resideInAPackage("dev.windlass.cron..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("dev.windlass.cron..", "java..", "org.jspecify..")
            .because("when a job runs is arithmetic, to be tested without a database and used without a node");

    @ArchTest
    static final ArchRule whatUsersWorkWithDoesNotShowTheMechanism = methods()
            .that()
            .areDeclaredInClassesThat(belongToTheUsers())
            .and()
            .arePublic()
            .should(notName("dev.windlass.runtime", "dev.windlass.engine"))
            .because("what is in a signature of the API can never be changed again");

    private static DescribedPredicate<JavaClass> belongToTheUsers() {
        Set<String> names = Stream.of(
                        Outbox.class,
                        OutboxEntry.class,
                        OutboxHandler.class,
                        OutboxMessage.class,
                        Inbox.class,
                        InboxEntry.class,
                        InboxHandler.class,
                        InboxMessage.class,
                        InboxOperator.class,
                        SeenMessage.class,
                        Leases.class,
                        Lease.class,
                        LeaseSemaphore.class,
                        Leadership.class,
                        Job.class,
                        JobRun.class,
                        JobSet.class,
                        JobState.class,
                        Jobs.class)
                .map(Class::getName)
                .collect(Collectors.toSet());
        return describe("users work with", type -> names.contains(type.getName()));
    }

    private static ArchCondition<JavaMethod> notName(String... packages) {
        return new ArchCondition<>("not name a type of " + String.join(" or ", packages)) {
            @Override
            public void check(JavaMethod method, ConditionEvents events) {
                method.getAllInvolvedRawTypes().stream()
                        .filter(type -> Stream.of(packages).anyMatch(type.getPackageName()::startsWith))
                        .forEach(type -> events.add(SimpleConditionEvent.violated(
                                method, method.getFullName() + " names " + type.getName())));
            }
        };
    }
}
