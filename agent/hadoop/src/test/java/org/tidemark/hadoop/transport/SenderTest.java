package org.tidemark.hadoop.transport;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;
import org.tidemark.hadoop.profile.MeterSettings;
import org.tidemark.hadoop.wire.Attempt;
import org.tidemark.hadoop.wire.Events;
import org.tidemark.hadoop.wire.ProtoWriter;

/** The sender and masters that are not as they should be. A good one is in LocalModeIT. */
public class SenderTest {
  @Rule public final Timeout patience = Timeout.seconds(60);

  private static final long FLUSH_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(30);
  /** What a wait may take on a busy machine beyond its budget. */
  private static final long SLACK_NANOS = TimeUnit.SECONDS.toNanos(5);

  private interface Conversation {
    void hold(DataInputStream in, OutputStream out) throws Exception;
  }

  private static ServerSocket serve(Conversation conversation) throws IOException {
    final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    final Thread thread =
        new Thread(
            () -> {
              while (!server.isClosed()) {
                try (Socket socket = server.accept()) {
                  conversation.hold(
                      new DataInputStream(socket.getInputStream()), socket.getOutputStream());
                } catch (Exception next) {
                  // The next caller may fare better.
                }
              }
            });
    thread.setDaemon(true);
    thread.start();
    return server;
  }

  private static Sender sender(ServerSocket server, MeterSettings settings) {
    final String host = server.getInetAddress().getHostAddress();
    final Endpoint master = Endpoint.of(host + ":" + server.getLocalPort(), "", null);
    return new Sender(master, "source", "job", settings);
  }

  private static void say(Sender sender) {
    sender.send(Events.heartbeat(new Attempt(true, 0, 0), 1, 2, 3));
  }

  private static void checkFlushGivesUp(Sender sender) {
    say(sender);
    final long start = System.nanoTime();
    assertFalse(sender.flush(FLUSH_NANOS));
    assertTrue(System.nanoTime() - start < FLUSH_NANOS + SLACK_NANOS);
    sender.stop(0);
  }

  private static void answer(OutputStream out, ProtoWriter response) throws IOException {
    final byte[] message = response.toByteArray();
    final ByteArrayOutputStream data = new ByteArrayOutputStream();
    data.write(0);
    data.write(Http2.int32(message.length));
    data.write(message);
    Http2.write(out, Http2.DATA, 0, 1, data.toByteArray());
    out.flush();
  }

  /** Reads up to the first data frame; returns how long it is. */
  private static int skipToData(DataInputStream in) throws IOException {
    in.readFully(new byte[24]);
    Http2.Frame frame = Http2.read(in);
    while (frame.type != Http2.DATA) {
      frame = Http2.read(in);
    }
    return frame.payload.length;
  }

  @Test
  public void nobodyListens() throws Exception {
    final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    final Sender sender = sender(server, new MeterSettings());
    server.close();
    checkFlushGivesUp(sender);
  }

  @Test
  public void aMasterThatNeverReads() throws Exception {
    final CountDownLatch done = new CountDownLatch(1);
    try (ServerSocket server = serve((in, out) -> done.await())) {
      final Sender sender = sender(server, new MeterSettings());
      for (int i = 0; i < 5_000; ++i) {
        say(sender);
      }
      checkFlushGivesUp(sender);
      done.countDown();
    }
  }

  @Test
  public void aMasterThatTalksGarbage() throws Exception {
    final byte[] garbage = "HTTP/1.1 400 Bad Request\r\n\r\n{}{}{}{}".getBytes("US-ASCII");
    try (ServerSocket server = serve((in, out) -> out.write(garbage))) {
      checkFlushGivesUp(sender(server, new MeterSettings()));
    }
  }

  @Test
  public void aMasterThatHangsUp() throws Exception {
    try (ServerSocket server = serve((in, out) -> in.read())) {
      checkFlushGivesUp(sender(server, new MeterSettings()));
    }
  }

  @Test
  public void anAnswerThatIsCutIntoPiecesArrives() throws Exception {
    final MeterSettings settings = new MeterSettings();
    try (ServerSocket server =
        serve(
            (in, out) -> {
              assertTrue(skipToData(in) > 5);
              final ByteArrayOutputStream whole = new ByteArrayOutputStream();
              final ProtoWriter control = new ProtoWriter().uintAlways(2, 7).uintAlways(3, 99);
              answer(whole, new ProtoWriter().string(1, "source").uint(2, 1).message(4, control));
              for (byte piece : whole.toByteArray()) {
                out.write(piece);
                out.flush();
              }
              in.read();
            })) {
      final Sender sender = sender(server, settings);
      say(sender);
      assertTrue(sender.flush(LONG_NANOS));
      assertEquals(7, settings.lambda());
      assertEquals(99, settings.burstThresholdBytes());
      sender.stop(0);
    }
  }

  @Test
  public void aLostConnectionIsMadeAgainAndNothingIsLost() throws Exception {
    final int[] calls = {0};
    try (ServerSocket server =
        serve(
            (in, out) -> {
              skipToData(in);
              if (++calls[0] >= 3) {
                answer(out, new ProtoWriter().uint(2, 1));
                in.read();
              }
            })) {
      final Sender sender = sender(server, new MeterSettings());
      say(sender);
      final long deadline = System.nanoTime() + LONG_NANOS;
      while (!sender.flush(LONG_NANOS) && System.nanoTime() < deadline) {
        Thread.sleep(50);
      }
      assertTrue(sender.flush(LONG_NANOS));
      assertEquals(3, calls[0]);
      sender.stop(0);
    }
  }

  @Test
  public void aMessageBeyondTheWindowWaitsForRoom() throws Exception {
    final CountDownLatch received = new CountDownLatch(1);
    try (ServerSocket server =
        serve(
            (in, out) -> {
              long bytes = skipToData(in);
              while (bytes < 150_000) {
                Http2.write(out, Http2.WINDOW_UPDATE, 0, 0, Http2.int32(20_000));
                Http2.write(out, Http2.WINDOW_UPDATE, 0, 1, Http2.int32(20_000));
                out.flush();
                final Http2.Frame frame = Http2.read(in);
                bytes += frame.type == Http2.DATA ? frame.payload.length : 0;
              }
              received.countDown();
              in.read();
            })) {
      final Sender sender = sender(server, new MeterSettings());
      final char[] name = new char[160_000];
      Arrays.fill(name, 'x');
      sender.send(Events.jobClosed(Events.Outcome.FAILED, new String(name), 1));
      assertTrue(received.await(30, TimeUnit.SECONDS));
      sender.stop(0);
    }
  }
}
