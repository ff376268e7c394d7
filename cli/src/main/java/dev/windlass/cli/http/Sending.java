package dev.windlass.cli.http;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.WriteListener;
import java.io.IOException;

/** Hands an answer over once, and ends when it has been sent. Whoever does not read it holds no thread meanwhile. */
final class Sending implements WriteListener {
    private final AsyncContext asker;
    private final ServletOutputStream out;
    private final byte[] answer;
    private boolean isHandedOver;

    private Sending(AsyncContext asker, ServletOutputStream out, byte[] answer) {
        this.asker = asker;
        this.out = out;
        this.answer = answer;
    }

    /** Waits for nothing. What it is, and its status, have been said. */
    static void begin(AsyncContext asker, byte[] answer) throws IOException {
        ServletResponse response = asker.getResponse();
        response.setContentLength(answer.length);
        ServletOutputStream out = response.getOutputStream();
        out.setWriteListener(new Sending(asker, out, answer));
    }

    @Override
    public void onWritePossible() throws IOException {
        while (out.isReady()) {
            if (isHandedOver) {
                asker.complete();
                return;
            }
            isHandedOver = true;
            out.write(answer);
        }
    }

    /** It has hung up, or did not read. */
    @Override
    public void onError(Throwable failure) {
        asker.complete();
    }
}
