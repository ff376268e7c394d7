package dev.windlass.node;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A pooler in transaction mode, as PgBouncer is one: a client has a server connection from its first message until the server is ready
 * and in no transaction. The one that was given back last is handed out first. What a server says while nobody has it is passed on to
 * the next who gets it. All clients have to be of one user and one database.
 */
public final class Pooler implements AutoCloseable {
    private static final int CANCEL = 80877102;
    private static final int TLS = 80877103;
    private static final int GSS = 80877104;

    private final int target;
    private final ServerSocket door;
    private final Deque<Server> free = new ArrayDeque<>();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();

    public Pooler(int target) throws IOException {
        this.target = target;
        this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(() -> {
            while (true) {
                Client client = new Client(door.accept());
                daemon(client::run);
            }
        });
    }

    public int port() {
        return door.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        door.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private interface Task {
        void run() throws IOException;
    }

    private static void daemon(Task task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } catch (IOException e) {
                        // One of the two has gone, or the test has ended.
                    }
                },
                "pooler");
        thread.setDaemon(true);
        thread.start();
    }

    /** A message without its length. */
    private static final class Message {
        private final byte type;
        private final byte[] body;

        Message(byte type, byte[] body) {
            this.type = type;
            this.body = body;
        }

        static Message read(DataInputStream in) throws IOException {
            byte type = in.readByte();
            return new Message(type, in.readNBytes(in.readInt() - 4));
        }

        void write(DataOutputStream out) throws IOException {
            out.writeByte(type);
            out.writeInt(body.length + 4);
            out.write(body);
        }

        boolean isReadyAndIdle() {
            return type == 'Z' && body[0] == 'I';
        }
    }

    private abstract class End {
        private final Socket socket;
        final DataInputStream in;
        private final DataOutputStream out;

        End(Socket socket) throws IOException {
            this.socket = socket;
            sockets.add(socket);
            in = new DataInputStream(socket.getInputStream());
            out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        }

        synchronized void send(Message message) throws IOException {
            message.write(out);
            out.flush();
        }

        synchronized void send(byte[] raw) throws IOException {
            out.write(raw);
            out.flush();
        }

        void end() throws IOException {
            socket.close();
        }
    }

    private final class Server extends End {
        private final ByteArrayOutputStream said = new ByteArrayOutputStream();
        private @Nullable Client client;
        private int answers;

        Server(Client first) throws IOException {
            super(new Socket(InetAddress.getLoopbackAddress(), target));
            client = first;
            answers = 1; // to the login
        }

        void listen() {
            daemon(() -> {
                while (true) {
                    heard(Message.read(in));
                }
            });
        }

        private void heard(Message message) throws IOException {
            Client now;
            synchronized (Pooler.this) {
                now = client;
                if (now == null) {
                    message.write(new DataOutputStream(said));
                    return;
                }
                answers -= message.type == 'Z' ? 1 : 0;
                if (message.isReadyAndIdle() && answers == 0) {
                    client = null;
                    now.server = null;
                    free.push(this);
                }
            }
            now.send(message);
        }

        /** The pooler's lock is held. */
        void belongsTo(Client next) throws IOException {
            client = next;
            next.server = this;
            next.send(said.toByteArray());
            said.reset();
        }
    }

    private final class Client extends End {
        private @Nullable Server server;

        Client(Socket socket) throws IOException {
            super(socket);
        }

        void run() throws IOException {
            byte[] login = login();
            if (login.length == 0) {
                end();
                return;
            }
            Server first = new Server(this);
            server = first;
            first.send(login);
            first.listen();
            while (true) {
                Message message = Message.read(in);
                if (message.type == 'X') {
                    end();
                    return;
                }
                pass(message);
            }
        }

        private byte[] login() throws IOException {
            while (true) {
                int length = in.readInt();
                byte[] rest = in.readNBytes(length - 4);
                int code = new DataInputStream(new java.io.ByteArrayInputStream(rest)).readInt();
                if (code == CANCEL) {
                    return new byte[0];
                }
                if (code == TLS || code == GSS) {
                    send(new byte[] {'N'});
                    continue;
                }
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                new DataOutputStream(all).writeInt(length);
                all.writeBytes(rest);
                return all.toByteArray();
            }
        }

        private void pass(Message message) throws IOException {
            Server mine;
            synchronized (Pooler.this) {
                Server linked = server;
                mine = linked == null ? free.pop() : linked; // there are as many as there have been logins
                if (linked == null) {
                    mine.belongsTo(this);
                }
                mine.answers += message.type == 'Q' || message.type == 'S' ? 1 : 0;
            }
            mine.send(message);
        }
    }
}
