package dev.windlass.node;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A network between a node and its database that can be cut, frozen and refused. */
public final class Link implements AutoCloseable {
    private final int target;
    private final ServerSocket server;
    private final List<Wire> wires = new CopyOnWriteArrayList<>();
    private volatile boolean refusing;
    private volatile boolean swallowing;

    public Link(int target) throws IOException {
        this.target = target;
        this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    public int port() {
        return server.getLocalPort();
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "link");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket client = server.accept();
                if (refusing) {
                    reset(client);
                } else {
                    Wire wire = new Wire(client, new Socket(InetAddress.getLoopbackAddress(), target), swallowing);
                    wires.add(wire);
                    if (swallowing) { // since this moment, perhaps
                        wire.frozen = true;
                    }
                }
            } catch (IOException e) {
                // The server is closed or the database is away: the client sees a connection that ends.
            }
        }
    }

    /** Ends every connection with a reset, as a firewall or a crashed machine does. */
    void cut() {
        wires.forEach(Wire::cut);
        wires.clear();
    }

    /** Ends one connection with a reset: the one that the server sees coming from this port. */
    void cut(int port) {
        Wire wire = wires.stream()
                .filter(each -> each.database.getLocalPort() == port)
                .findFirst()
                .orElseThrow();
        wire.cut();
        wires.remove(wire);
    }

    /** Swallows everything from now on: new connections are accepted, and get no answer either. */
    void swallow() {
        swallowing = true;
        freeze();
    }

    /** Swallows everything on the connections there are; new ones work. */
    public void freeze() {
        wires.forEach(wire -> wire.frozen = true);
    }

    void thaw() {
        wires.forEach(Wire::thaw);
    }

    void refuse(boolean refuse) {
        refusing = refuse;
    }

    int connections() {
        return wires.size();
    }

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException e) {
            // The other side was faster, and it is closed already.
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        cut();
    }

    private static final class Wire {
        private final Socket client;
        private final Socket database;
        private volatile boolean frozen;

        Wire(Socket client, Socket database, boolean frozen) {
            this.client = client;
            this.database = database;
            this.frozen = frozen;
            daemon(() -> copy(client, database));
            daemon(() -> copy(database, client));
        }

        private void copy(Socket from, Socket to) {
            byte[] buffer = new byte[8192];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int n; (n = in.read(buffer)) >= 0; ) {
                    awaitThaw();
                    out.write(buffer, 0, n);
                }
                to.shutdownOutput();
            } catch (IOException e) {
                cut();
            }
        }

        private synchronized void awaitThaw() {
            boolean interrupted = false;
            while (frozen) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        synchronized void thaw() {
            frozen = false;
            notifyAll();
        }

        void cut() {
            reset(client);
            reset(database);
            thaw();
        }
    }
}
