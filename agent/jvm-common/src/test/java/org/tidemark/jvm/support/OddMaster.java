package org.tidemark.jvm.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Something at a master's address that is none. */
public final class OddMaster implements AutoCloseable {
  /** What it does with a connection. */
  public interface Manners {
    void meet(InputStream in, OutputStream out) throws Exception;
  }

  public final String address;
  private final ServerSocket server;
  private final List<Socket> fillers = new ArrayList<>();

  private OddMaster(ServerSocket server) {
    this.server = server;
    address = "127.0.0.1:" + server.getLocalPort();
  }

  /** Nobody listens. */
  public static String absent() throws IOException {
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return "127.0.0.1:" + closed.getLocalPort();
    }
  }

  /** Nobody gets in: the queue of connections is full and stays so. */
  public static OddMaster full() throws IOException {
    final OddMaster busy = new OddMaster(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
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

  /** Meets every connection in the same way. */
  public static OddMaster with(Manners manners) throws IOException {
    final ServerSocket server = new ServerSocket();
    // Small, so that it is soon felt when nobody reads.
    server.setReceiveBufferSize(1 << 14);
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    final Thread door =
        new Thread(
            () -> {
              while (!server.isClosed()) {
                try {
                  final Socket socket = server.accept();
                  final Thread meeting = new Thread(() -> meet(manners, socket));
                  meeting.setDaemon(true);
                  meeting.start();
                } catch (IOException closed) {
                  return;
                }
              }
            });
    door.setDaemon(true);
    door.start();
    return new OddMaster(server);
  }

  private static void meet(Manners manners, Socket socket) {
    try (Socket open = socket) {
      manners.meet(open.getInputStream(), open.getOutputStream());
    } catch (Exception theOtherSideHasHadEnough) {
      // The next one may fare better.
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
