package org.tidemark.jvm.transport;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;

/**
 * A connection whose reads have no timeout but call a tick about once a second, whether or not data
 * arrives. Pauses within a frame or a TLS record are therefore harmless. Not every JDK can resume a
 * TLS record after a timeout.
 */
final class TickingSocket extends Socket {
  /** Called on the reading thread. The read rethrows its exceptions. */
  interface Tick {
    void tick() throws IOException;
  }

  private static final int TICK_MILLIS = 1_000;
  private static final long TICK_NANOS = TICK_MILLIS * 1_000_000L;
  /** The buffer is small, so that unread data stays in the bounded outbox and not in the kernel. */
  private static final int SEND_BUFFER_BYTES = 1 << 17;

  private volatile Tick tick;
  private long lastTickNanos;

  private TickingSocket() {}

  /**
   * Connects to the first address that accepts, with a timeout for each address. If none accepts,
   * throws the error of the first address.
   */
  static TickingSocket connectedTo(InetAddress[] addresses, int port, int timeoutMillis)
      throws IOException {
    IOException refusal = null;
    for (InetAddress address : addresses) {
      final TickingSocket socket = new TickingSocket();
      boolean connected = false;
      try {
        socket.setTcpNoDelay(true);
        socket.setSendBufferSize(SEND_BUFFER_BYTES);
        socket.connect(new InetSocketAddress(address, port), timeoutMillis);
        connected = true;
        return socket;
      } catch (IOException tryTheNext) {
        refusal = refusal == null ? tryTheNext : refusal;
      } finally {
        if (!connected) {
          socket.close();
        }
      }
    }
    throw refusal == null ? new IOException("the host name has no address") : refusal;
  }

  /** Must be called before the first read, and again for each tick. */
  void startTicking(Tick everySecond) throws IOException {
    setSoTimeout(TICK_MILLIS);
    lastTickNanos = System.nanoTime();
    tick = everySecond;
  }

  @Override
  public InputStream getInputStream() throws IOException {
    return new FilterInputStream(super.getInputStream()) {
      @Override
      public int read() throws IOException {
        final byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
      }

      @Override
      public int read(byte[] bytes, int from, int length) throws IOException {
        while (true) {
          try {
            final int got = super.read(bytes, from, length);
            tickIfDue();
            return got;
          } catch (SocketTimeoutException nothingYet) {
            tickIfDue();
          }
        }
      }
    };
  }

  private void tickIfDue() throws IOException {
    final long now = System.nanoTime();
    if (now - lastTickNanos >= TICK_NANOS) {
      lastTickNanos = now;
      tick.tick();
    }
  }
}
