package org.tidemark.jvm.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A server that is not a master. */
public final class FaultyMaster implements AutoCloseable {
  /** How the server treats a connection. */
  public interface Behaviour {
    void meet(InputStream in, OutputStream out) throws Exception;
  }

  public final String address;
  private final ServerSocket server;
  private final List<Socket> fillers = new ArrayList<>();

  private FaultyMaster(ServerSocket server) {
    this.server = server;
    address = "127.0.0.1:" + server.getLocalPort();
  }

  /** Returns an address on which no server listens. */
  public static String absent() throws IOException {
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return "127.0.0.1:" + closed.getLocalPort();
    }
  }

  /** Returns a server that accepts no connection, since its backlog is full. */
  public static FaultyMaster full() throws IOException {
    final FaultyMaster busy = new FaultyMaster(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
    for (int i = 0; i < 8; ++i) {
      final Socket filler = new Socket();
      busy.fillers.add(filler);
      try {
        filler.connect(new InetSocketAddress("127.0.0.1", busy.server.getLocalPort()), 300);
      } catch (IOException queueIsFull) {
        return busy;
      }
    }
    throw new IOException("the queue of connections does not fill");
  }

  /** Handles every connection in the same way. */
  public static FaultyMaster with(Behaviour behaviour) throws IOException {
    final ServerSocket server = new ServerSocket();
    // The buffer is small, so a writer soon blocks if the server does not read.
    server.setReceiveBufferSize(1 << 14);
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    final Thread door =
        new Thread(
            () -> {
              while (!server.isClosed()) {
                try {
                  final Socket socket = server.accept();
                  final Thread meeting = new Thread(() -> meet(behaviour, socket));
                  meeting.setDaemon(true);
                  meeting.start();
                } catch (IOException closed) {
                  return;
                }
              }
            });
    door.setDaemon(true);
    door.start();
    return new FaultyMaster(server);
  }

  /** Returns a server that reads one byte per second. */
  public static FaultyMaster slow() throws IOException {
    return with(
        (in, out) -> {
          while (in.read() >= 0) {
            Thread.sleep(1_000);
          }
        });
  }

  /** Returns a server that responds in another protocol. */
  public static FaultyMaster garbage() throws IOException {
    final byte[] garbage =
        "HTTP/1.1 400 Bad Request\r\n\r\n{}{}{}{}".getBytes(StandardCharsets.US_ASCII);
    return with((in, out) -> out.write(garbage));
  }

  private static void meet(Behaviour behaviour, Socket socket) {
    try (Socket open = socket) {
      behaviour.meet(open.getInputStream(), open.getOutputStream());
    } catch (Exception theOtherSideHasHadEnough) {
      // The next connection may succeed.
    }
  }

  @Override
  public void close() throws IOException {
    for (Socket filler : fillers) {
      filler.close();
    }
    server.close();
  }
}
