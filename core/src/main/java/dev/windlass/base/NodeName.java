package dev.windlass.base;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** The default name of this node: host and process, so that a stored name leads to a log. */
final class NodeName {

    private NodeName() {}

    static String ofThisProcess() {
        String suffix = "/" + ProcessHandle.current().pid();
        String host = host();
        return host.substring(0, Math.min(host.length(), 100 - suffix.length())) + suffix;
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}
