package dev.windlass.examples;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.impl.AMQImpl;
import com.rabbitmq.client.impl.Frame;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Stands before a broker and answers as RabbitMQ does: a message that no queue wants is returned, then confirmed. (Qpid refuses
 * it, then returns it.) Only for messages without a payload, whose return ends with the frame of their properties.
 */
final class ConfirmingReturns implements AutoCloseable {
    private static final int MAX_FRAME = 1_000_000;

    private final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final int broker;

    ConfirmingReturns(int broker) throws IOException {
        this.broker = broker;
        inBackground(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = server.accept();
            Socket upstream = new Socket(InetAddress.getLoopbackAddress(), broker);
            sockets.addAll(List.of(client, upstream));
            inBackground(() -> client.getInputStream().transferTo(upstream.getOutputStream()));
            inBackground(() -> answer(
                    new DataInputStream(upstream.getInputStream()), new DataOutputStream(client.getOutputStream())));
        }
    }

    private static void answer(DataInputStream in, DataOutputStream out) throws IOException {
        Frame held = null;
        while (true) {
            Frame frame = Frame.readFrom(in, () -> MAX_FRAME);
            Frame confirm = confirmInsteadOf(frame);
            if (confirm != null) {
                held = confirm;
                continue;
            }
            outbound(frame).writeTo(out);
            if (held != null && frame.getType() == AMQP.FRAME_HEADER) {
                held.writeTo(out);
                held = null;
            }
            out.flush();
        }
    }

    /** A frame that was read cannot be written. */
    private static Frame outbound(Frame frame) {
        return new Frame(frame.getType(), frame.getChannel(), ByteBuffer.wrap(frame.getPayload()));
    }

    private static @Nullable Frame confirmInsteadOf(Frame frame) throws IOException {
        return frame.getType() == AMQP.FRAME_METHOD
                        && AMQImpl.readMethodFrom(frame.getInputStream()) instanceof AMQImpl.Basic.Nack refusal
                ? new AMQImpl.Basic.Ack(refusal.getDeliveryTag(), false).toFrame(frame.getChannel())
                : null;
    }

    @FunctionalInterface
    private interface Work {
        void run() throws IOException;
    }

    /** Ends when one of the sockets does. */
    private static void inBackground(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                return; // closed
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
