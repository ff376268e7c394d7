package dev.windlass;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.jspecify.annotations.Nullable;

/**
 * An agent that puts the wall clock of its whole JVM forward or back: the JDK's own classes, the driver and Windlass all read the
 * wrong time, in whatever way they read it.
 *
 * <p>The JVM has two native methods that tell the time of day. Whatever they answer is changed behind each of their calls, in every
 * class. What the tests need beyond a JDK comes from Maven, and no artifact has a library that does it for a whole process.
 */
public final class SkewedClock {
    private static final String OWN_NAME = "dev/windlass/SkewedClock";

    private SkewedClock() {}

    /** What a JVM has to be started with, so that its clock is wrong by this much. */
    public static String option(Path directory, Duration skew) throws IOException {
        Path jar = directory.resolve("skewed-clock.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", SkewedClock.class.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return "-javaagent:" + jar + "=" + skew;
    }

    public static void premain(String by, Instrumentation jvm) throws IOException, UnmodifiableClassException {
        Skew skew = new Skew(Duration.parse(by));
        try (InputStream bytes = SkewedClock.class.getResourceAsStream("SkewedClock.class")) {
            // Loads what it needs itself: a class cannot be changed by what is not loaded before it.
            skew.transform(
                    null, OWN_NAME, null, null, Objects.requireNonNull(bytes).readAllBytes());
        }
        Class<?>[] loaded = Arrays.stream(jvm.getAllLoadedClasses())
                .filter(jvm::isModifiableClass)
                .toArray(Class<?>[]::new);
        jvm.addTransformer(skew, true);
        jvm.retransformClasses(loaded);
    }

    /** Stands in where a reference to the method is made; the class behind one cannot be changed. */
    public static long currentTimeMillis() {
        return System.currentTimeMillis();
    }

    private record Skew(Duration by) implements ClassFileTransformer {

        @Override
        public byte @Nullable [] transform(
                @Nullable ClassLoader loader,
                String name,
                @Nullable Class<?> type,
                @Nullable ProtectionDomain domain,
                byte[] bytes) {
            ClassReader reader = new ClassReader(bytes);
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            Calls calls = new Calls(writer, by, loader != null);
            reader.accept(calls, 0);
            return calls.changed ? writer.toByteArray() : null;
        }
    }

    private static final class Calls extends ClassVisitor {
        private final Duration by;
        private final boolean references;
        private boolean changed;

        Calls(ClassVisitor next, Duration by, boolean references) {
            super(Opcodes.ASM9, next);
            this.by = by;
            this.references = references;
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String type, @Nullable String signature, String @Nullable [] exceptions) {
            return new MethodVisitor(api, super.visitMethod(access, name, type, signature, exceptions)) {
                @Override
                public void visitMethodInsn(int code, String owner, String called, String as, boolean isInterface) {
                    super.visitMethodInsn(code, owner, called, as, isInterface);
                    if (owner.equals("java/lang/System") && called.equals("currentTimeMillis")) {
                        add(by.toMillis());
                    } else if (owner.equals("jdk/internal/misc/VM") && called.equals("getNanoTimeAdjustment")) {
                        add(by.toNanos());
                    }
                }

                private void add(long amount) {
                    visitLdcInsn(amount);
                    visitInsn(Opcodes.LADD);
                    changed = true;
                }

                @Override
                public void visitInvokeDynamicInsn(String called, String as, Handle maker, Object... arguments) {
                    Object[] changedArguments = arguments.clone();
                    for (int i = 0; i < arguments.length; i++) {
                        changedArguments[i] = elsewhere(arguments[i]);
                    }
                    super.visitInvokeDynamicInsn(called, as, maker, changedArguments);
                }

                private Object elsewhere(Object argument) {
                    boolean reads = references
                            && argument instanceof Handle handle
                            && handle.getOwner().equals("java/lang/System")
                            && handle.getName().equals("currentTimeMillis");
                    changed |= reads;
                    return reads
                            ? new Handle(Opcodes.H_INVOKESTATIC, OWN_NAME, "currentTimeMillis", "()J", false)
                            : argument;
                }
            };
        }
    }
}
