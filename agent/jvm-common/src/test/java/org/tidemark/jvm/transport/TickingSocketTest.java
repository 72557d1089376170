package org.tidemark.jvm.transport;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.Test;

public class TickingSocketTest {
  private static final InetAddress[] TWO = {address(127, 0, 0, 2), address(127, 0, 0, 1)};

  private static InetAddress address(int... bytes) {
    try {
      return InetAddress.getByAddress(
          new byte[] {(byte) bytes[0], (byte) bytes[1], (byte) bytes[2], (byte) bytes[3]});
    } catch (IOException never) {
      throw new AssertionError(never);
    }
  }

  @Test
  public void theFirstReachableAddressIsUsed() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, TWO[1]);
        Socket socket = TickingSocket.connectedTo(TWO, server.getLocalPort(), 2_000)) {
      assertEquals(TWO[1], socket.getInetAddress());
    }
  }

  @Test(expected = ConnectException.class)
  public void aConnectionWithoutAValidAddressReportsTheReason() throws Exception {
    final int port;
    try (ServerSocket closed = new ServerSocket(0, 1, TWO[1])) {
      port = closed.getLocalPort();
    }
    TickingSocket.connectedTo(TWO, port, 2_000).close();
  }
}
