package dev.windlass;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.base.HasDescription;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.SafeCopies;
import dev.windlass.internal.database.SqlError;
import dev.windlass.internal.database.Transactions;
import dev.windlass.internal.schema.SchemaMigrator;
import dev.windlass.store.SharedConnections;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.net.URI;
import java.nio.file.Path;
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
            .resideOutsideOfPackages("dev.windlass.internal.engine..", "dev.windlass.embedded..")
            .and()
            .doNotHaveFullyQualifiedName(WindlassBuilder.class.getName())
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.windlass.internal.engine..", "org.postgresql..")
            .because("a second engine must be able to take the place of the first; only the builder chooses one");

    @ArchTest
    static final ArchRule nobodyReadsTheWallClock = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("dev.windlass.internal.support.TimeOrderedIds")
            .and()
            .doNotHaveFullyQualifiedName("dev.windlass.internal.lease.TrustWindow")
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
            .resideOutsideOfPackages("dev.windlass.internal.engine..", "dev.windlass.embedded..")
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
            .resideOutsideOfPackages("dev.windlass.internal.engine..", "dev.windlass.embedded..")
            .and(are(not(anyOf(
                    Call.class, Database.class, Transactions.class, SchemaMigrator.class, SharedConnections.class))))
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

    /** What the module exports, read from its descriptor. */
    private static final Set<String> EXPORTED = exported();

    private static Set<String> exported() {
        URI classes = URI.create(Windlass.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toString());
        return ModuleFinder.of(Path.of(classes)).find("dev.windlass").orElseThrow().descriptor().exports().stream()
                .filter(exports -> !exports.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toSet());
    }

    private static final DescribedPredicate<JavaClass> SEEN =
            describe("users can see", type -> EXPORTED.contains(type.getPackageName()) && isPublicOutside(type));

    private static boolean isPublicOutside(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass()
                        .map(ArchitectureTest::isPublicOutside)
                        .orElse(true);
    }

    @ArchTest
    static final ArchRule everyPackageIsExportedOrInternal = classes()
            .that()
            .resideOutsideOfPackage("dev.windlass.embedded..")
            .should()
            .resideInAnyPackage(Stream.concat(EXPORTED.stream(), Stream.of("dev.windlass.internal.."))
                    .toArray(String[]::new))
            .because("who adds a package decides whether it is a promise");

    @ArchTest
    static final ArchRule whatUsersSeeDoesNotShowTheMechanism = classes()
            .that(SEEN)
            .should(nameNothingInternal())
            .because("what is in a signature of the API can never be changed again");

    /** Superclasses, fields, methods and constructors that users can see, with their type arguments. */
    private static ArchCondition<JavaClass> nameNothingInternal() {
        return new ArchCondition<>("name nothing internal in what users can see") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Stream<JavaClass> parents = Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream())
                        .flatMap(parent -> parent.getAllInvolvedRawTypes().stream());
                parents.filter(ArchitectureTest::isInternal).forEach(each -> tell(type, each, events));
                type.getMembers().stream()
                        .filter(ArchitectureTest::isSeen)
                        .forEach(member -> member.getAllInvolvedRawTypes().stream()
                                .filter(ArchitectureTest::isInternal)
                                .forEach(each -> tell(member, each, events)));
            }
        };
    }

    private static boolean isInternal(JavaClass type) {
        return type.getPackageName().startsWith("dev.windlass.internal");
    }

    private static boolean isSeen(JavaMember member) {
        return (member.getModifiers().contains(JavaModifier.PUBLIC)
                        || member.getModifiers().contains(JavaModifier.PROTECTED))
                && !member.getModifiers().contains(JavaModifier.SYNTHETIC);
    }

    private static void tell(HasDescription where, JavaClass what, ConditionEvents events) {
        events.add(SimpleConditionEvent.violated(where, where.getDescription() + " names " + what.getName()));
    }

    @ArchTest
    static final ArchRule packagesHaveNoCycles = slices().matching("dev.windlass.(**)")
            .should()
            .beFreeOfCycles()
            .because("what can be read alone can be understood alone");

    @ArchTest
    static final ArchRule theFrontDoorIsSeenByNobodyInside = noClasses()
            .that()
            .resideOutsideOfPackages("dev.windlass", "dev.windlass.embedded..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.windlass")
            .because("it puts all the others together");
}
