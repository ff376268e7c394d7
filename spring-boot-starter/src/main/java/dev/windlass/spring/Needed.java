package dev.windlass.spring;

import java.lang.reflect.Member;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.InjectionPoint;
import org.springframework.beans.factory.UnsatisfiedDependencyException;

/** Who needs a bean that could not be had. */
final class Needed {
    private Needed() {}

    /** As errors have it: the injection that is nearest to the cause. */
    static String by(Throwable failure, Throwable cause) {
        String who = "The application";
        for (Throwable each = failure; each != null && each != cause; each = each.getCause()) {
            if (each instanceof UnsatisfiedDependencyException unsatisfied) {
                who = name(unsatisfied);
            }
        }
        return who;
    }

    private static String name(UnsatisfiedDependencyException unsatisfied) {
        String bean = "The bean \"" + unsatisfied.getBeanName() + "\"";
        InjectionPoint point = unsatisfied.getInjectionPoint();
        Member member = member(point);
        return member == null ? bean : bean + " (" + name(member) + ")";
    }

    private static @Nullable Member member(@Nullable InjectionPoint point) {
        return point == null ? null : point.getMember();
    }

    /** A constructor has the name of its class. */
    private static String name(Member member) {
        String type = member.getDeclaringClass().getName();
        return member.getName().equals(type) ? type : type + "." + member.getName();
    }
}
