package org.tidemark.jvm.transport;

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
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.rules.Timeout;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.profile.PartitionKeys;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.ProtoWriter;

/** Tests the sender with faulty masters. LocalModeIT tests it with a good one. */
public class SenderTest {
  @Rule public final Timeout patience = Timeout.seconds(60);
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private static final long FLUSH_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(30);
  /** The time that a wait may exceed its budget on a busy machine. */
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
                  // The next connection may succeed.
                }
              }
            });
    thread.setDaemon(true);
    thread.start();
    return server;
  }

  /** The log lines of this test's senders. */
  private final List<String> log = new CopyOnWriteArrayList<>();

  private void awaitLog(String words) throws InterruptedException {
    while (log.stream().noneMatch(line -> line.contains(words))) {
      Thread.sleep(20);
    }
  }

  private Sender sender(ServerSocket server, MeterSettings settings) {
    final String host = server.getInetAddress().getHostAddress();
    final Endpoint master = Endpoint.of(host + ":" + server.getLocalPort(), "", null);
    return new Sender(
        master, new Source("test", "source", "job", "run"),
            Sender.TASK_BUFFER_BYTES_MAX, settings, log::add, new Guard(log::add));
  }

  private static void sendEvent(Sender sender) {
    sender.send(Events.heartbeat(Attempt.map(0, 0), 1, 2, 3));
  }

  /** Sends events whose size on the wire is close to their size in the buffer. */
  private static void sendManyEvents(Sender sender) {
    final AttemptUpdate update = new AttemptUpdate(Attempt.map(0, 0), Events.State.FAILED);
    update.failure = String.join("", Collections.nCopies(4_000, "x"));
    sender.send(Events.attemptChanged(update));
  }

  private void checkFlushGivesUp(Sender sender) {
    sendEvent(sender);
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

  /** Reads up to the first data frame and returns its length. */
  private static int skipToData(DataInputStream in) throws IOException {
    in.readFully(new byte[24]);
    Http2.Frame frame = new Http2.FrameReader(in).read();
    while (frame.type != Http2.DATA) {
      frame = new Http2.FrameReader(in).read();
    }
    return frame.payload.length;
  }

  @Test
  public void aRefusedConnectionDoesNotDelayTheTask() throws Exception {
    final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    final Sender sender = sender(server, new MeterSettings());
    server.close();
    checkFlushGivesUp(sender);
  }

  /** Returns the connector's thread that blocks in a write, or null. */
  private static Thread blockedWriter() {
    for (Map.Entry<Thread, StackTraceElement[]> thread : Thread.getAllStackTraces().entrySet()) {
      final String stack = Arrays.toString(thread.getValue());
      // JDK 11 blocks in socketWrite0; later versions park in implWrite.
      if (thread.getKey().getName().equals("tidemark-sender")
          && stack.matches(".*(socketWrite0|park\\(.*implWrite).*")) {
        return thread.getKey();
      }
    }
    return null;
  }

  @Test
  public void anUnreadConnectionBlocksAWriteButNotTheTask() throws Exception {
    final CountDownLatch done = new CountDownLatch(1);
    try (ServerSocket server =
        serve(
            (in, out) -> {
              // The largest window, so that the writer blocks in the kernel.
              final byte[] largest = Http2.int32(Integer.MAX_VALUE - Http2.WINDOW_BYTES);
              Http2.write(out, Http2.WINDOW_UPDATE, 0, 0, largest);
              Http2.write(out, Http2.WINDOW_UPDATE, 0, 1, largest);
              out.flush();
              done.await();
            })) {
      server.setReceiveBufferSize(4_096);
      final Sender sender = sender(server, new MeterSettings());
      Thread blocked = null;
      while (blocked == null) {
        for (int i = 0; i < 100; ++i) {
          sendManyEvents(sender);
        }
        Thread.sleep(20);
        blocked = blockedWriter();
      }
      checkFlushGivesUp(sender);
      // stop() releases it at its end.
      blocked.join();
      done.countDown();
    }
  }

  @Test
  public void invalidResponsesDoNotDelayTheJob() throws Exception {
    final byte[] garbage = "HTTP/1.1 400 Bad Request\r\n\r\n{}{}{}{}".getBytes("US-ASCII");
    try (ServerSocket server = serve((in, out) -> out.write(garbage))) {
      checkFlushGivesUp(sender(server, new MeterSettings()));
    }
  }

  @Test
  public void aMasterThatClosesConnectionsDoesNotDelayTheJob() throws Exception {
    try (ServerSocket server = serve((in, out) -> in.read())) {
      checkFlushGivesUp(sender(server, new MeterSettings()));
    }
  }

  @Test
  public void aFragmentedResponseArrives() throws Exception {
    final MeterSettings settings = new MeterSettings();
    try (ServerSocket server =
        serve(
            (in, out) -> {
              assertTrue(skipToData(in) > 5);
              final ByteArrayOutputStream whole = new ByteArrayOutputStream();
              final ProtoWriter control = new ProtoWriter().uintAlways(2, 7).uintAlways(3, 99);
              answer(whole, new ProtoWriter().uint(2, 1).message(4, control));
              for (byte piece : whole.toByteArray()) {
                out.write(piece);
                out.flush();
              }
              in.read();
            })) {
      final Sender sender = sender(server, settings);
      sendEvent(sender);
      assertTrue(sender.flush(LONG_NANOS));
      assertEquals(7, settings.lambda());
      assertEquals(99, settings.burstThresholdBytes());
      sender.stop(0);
    }
  }

  @Test
  public void theWaitIsLongerForAMasterThatHasResponded() throws Exception {
    final CountDownLatch ending = new CountDownLatch(1);
    try (ServerSocket server =
        serve(
            (in, out) -> {
              skipToData(in);
              answer(out, new ProtoWriter().uint(2, 1));
              ending.await();
              Thread.sleep(2 * FLUSH_NANOS / 1_000_000L);
              answer(out, new ProtoWriter().uint(2, 2));
              in.read();
            })) {
      final Sender sender = sender(server, new MeterSettings());
      sendEvent(sender);
      assertTrue(sender.flush(LONG_NANOS));
      sendEvent(sender);
      ending.countDown();
      assertTrue(sender.flush(FLUSH_NANOS, LONG_NANOS));
      sender.stop(0);
    }
  }

  @Test
  public void theWaitIsShortForAMasterThatHasNotResponded() throws Exception {
    final CountDownLatch done = new CountDownLatch(1);
    try (ServerSocket server = serve((in, out) -> done.await())) {
      final Sender sender = sender(server, new MeterSettings());
      sendEvent(sender);
      final long start = System.nanoTime();
      assertFalse(sender.flush(FLUSH_NANOS, LONG_NANOS));
      assertTrue(System.nanoTime() - start < LONG_NANOS);
      sender.stop(0);
      done.countDown();
    }
  }

  @Test
  public void aLostConnectionIsRestoredWithoutLosingEvents() throws Exception {
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
      sendEvent(sender);
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
                final Http2.Frame frame = new Http2.FrameReader(in).read();
                bytes += frame.type == Http2.DATA ? frame.payload.length : 0;
              }
              received.countDown();
              in.read();
            })) {
      final Sender sender = sender(server, new MeterSettings());
      // Each key has a hash of 8 bytes.
      final PartitionKeys keys = new PartitionKeys(0, 20_000);
      sender.send(Events.mapProfile(Attempt.map(0, 0), Arrays.asList(keys), 0));
      assertTrue(received.await(30, TimeUnit.SECONDS));
      sender.stop(0);
    }
  }

  /** Ends the call like gRPC's servers, with literals that request a place in the table. */
  private static void refuse(OutputStream out, int code, String message) throws IOException {
    final ByteArrayOutputStream block = new ByteArrayOutputStream();
    block.write(0x88); // :status 200
    field(block, "grpc-status", Integer.toString(code));
    field(block, "grpc-message", message);
    Http2.write(
        out, Http2.HEADERS, Http2.END_HEADERS | Http2.END_STREAM, 1, block.toByteArray());
    out.flush();
  }

  private static void field(ByteArrayOutputStream block, String name, String value) {
    block.write(0x40);
    for (String text : new String[] {name, value}) {
      block.write(text.length());
      block.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }
  }

  @Test
  public void theReasonOfARejectedCallIsReportedOnce() throws Exception {
    final CountDownLatch threeCalls = new CountDownLatch(3);
    try (ServerSocket server =
        serve(
            (in, out) -> {
              skipToData(in);
              refuse(out, 16, "the token is not known%2C at all");
              threeCalls.countDown();
            })) {
      final Sender sender = sender(server, new MeterSettings());
      sendEvent(sender);
      assertTrue(threeCalls.await(30, TimeUnit.SECONDS));
      awaitLog("rejects events");
      sender.stop(0);
      assertEquals(log.toString(), 1, log.size());
      assertTrue(
          log.get(0),
          log.get(0)
              .endsWith(
                  " rejects events: UNAUTHENTICATED: the token is not known, at all;"
                      + " the job itself is not affected"));
      assertTrue(log.get(0), log.get(0).startsWith("the master at 127.0.0.1:"));
    }
  }

  @Test
  public void theReasonOfARejectedEventIsReportedOnce() throws Exception {
    try (ServerSocket server =
        serve(
            (in, out) -> {
              skipToData(in);
              final ProtoWriter rejection =
                  new ProtoWriter().uint(1, 1).uint(2, 8).string(3, "at most 5 jobs");
              answer(out, new ProtoWriter().message(3, rejection).uint(2, 1));
              answer(out, new ProtoWriter().message(3, rejection).uint(2, 1));
              in.read();
            })) {
      final Sender sender = sender(server, new MeterSettings());
      sendEvent(sender);
      assertTrue(sender.flush(LONG_NANOS));
      awaitLog(" rejected an event: RESOURCE_EXHAUSTED: at most 5 jobs;");
      assertEquals(log.toString(), 1, log.size());
      sender.stop(0);
    }
  }

  @Test
  public void anUnreachableMasterIsLoggedOnce() throws Exception {
    final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    final Sender sender = sender(server, new MeterSettings());
    server.close();
    for (int i = 0; i < 5; ++i) {
      sendEvent(sender);
      Thread.sleep(100);  // about the distance of the first attempts
    }
    awaitLog("127.0.0.1:" + server.getLocalPort() + " cannot be reached: ConnectException");
    sender.stop(0);
    assertEquals(log.toString(), 1, log.size());
  }

  @Test
  public void aTaskThatEndsBeforeASilentMasterRespondsReportsThis() throws Exception {
    final CountDownLatch done = new CountDownLatch(1);
    try (ServerSocket server = serve((in, out) -> done.await())) {
      final Sender sender = sender(server, new MeterSettings());
      checkFlushGivesUp(sender);
      awaitLog(" did not respond before this process ended;");
      done.countDown();
    }
  }

  @Test
  public void aSilentMasterIsReportedDuringTheTask() throws Exception {
    final CountDownLatch done = new CountDownLatch(1);
    try (ServerSocket server = serve((in, out) -> done.await())) {
      final Sender sender = sender(server, new MeterSettings());
      sendEvent(sender);
      awaitLog(" has not responded for 5 s;");
      sender.stop(0);
      done.countDown();
    }
  }

  @Test
  public void aRespondingMasterIsLoggedOnce() throws Exception {
    final List<String> lines = new CopyOnWriteArrayList<>();
    final Log log =
        new Log() {
          @Override
          public void warn(String what) {
            lines.add("WARN " + what);
          }

          @Override
          public void info(String what) {
            lines.add("INFO " + what);
          }
        };
    try (ServerSocket server =
        serve(
            (in, out) -> {
              skipToData(in);
              for (long sequence = 1; ; ++sequence) {
                answer(out, new ProtoWriter().uint(2, sequence));
                while (new Http2.FrameReader(in).read().type != Http2.DATA) {}
              }
            })) {
      final Endpoint master = Endpoint.of("127.0.0.1:" + server.getLocalPort(), "", null);
      final Sender sender =
          new Sender(master, new Source("test", "source", "job", "run"),
            Sender.TASK_BUFFER_BYTES_MAX, new MeterSettings(), log, new Guard(log));
      for (int i = 0; i < 3; ++i) {
        sendEvent(sender);
        assertTrue(sender.flush(LONG_NANOS));
      }
      sender.stop(0);
      assertEquals(
          Collections.singletonList(
              "INFO progress is reported to the master at 127.0.0.1:" + server.getLocalPort()),
          lines);
    }
  }

  @Test
  public void aSlowHandshakeIsAborted() throws Exception {
    final CountDownLatch calledAgain = new CountDownLatch(2);
    try (ServerSocket server =
        serve(
            (in, out) -> {
              calledAgain.countDown();
              out.write(new byte[] {22, 3, 3, 0x40, 0});  // a TLS record of maximum length
              while (true) {
                out.write(0);
                Thread.sleep(200);
              }
            })) {
      // The authority does not matter, since no certificate arrives.
      final Tls tls = new Tls(folder.newFile(), null, null, "");
      final Endpoint master = Endpoint.of("127.0.0.1:" + server.getLocalPort(), "", tls);
      final Sender sender =
          new Sender(
              master,
              new Source("test", "source", "job", "run"),
            Sender.TASK_BUFFER_BYTES_MAX,
              new MeterSettings(),
              log::add,
              new Guard(log::add));
      sendEvent(sender);
      awaitLog(" cannot be reached: IOException: the handshake takes too long");
      assertTrue(calledAgain.await(30, TimeUnit.SECONDS));
      sender.stop(0);
    }
  }

  @Test
  public void anIdleTaskReportsAtEveryInterval() throws Exception {
    final CountDownLatch reports = new CountDownLatch(5);
    try (ServerSocket server =
        serve(
            (in, out) -> {
              skipToData(in);
              for (long sequence = 1; ; ++sequence) {
                answer(out, new ProtoWriter().uint(2, sequence));
                reports.countDown();
                while (new Http2.FrameReader(in).read().type != Http2.DATA) {}
              }
            })) {
      final MeterSettings settings = new MeterSettings();
      settings.setFlushNanos(TimeUnit.MILLISECONDS.toNanos(50));
      final Sender sender = sender(server, settings);
      sender.startReports(() -> Events.heartbeat(Attempt.map(0, 0), 1, 2, 3));
      assertTrue(reports.await(30, TimeUnit.SECONDS));
      sender.stop(0);
    }
  }

  @Test
  public void aFrameArrivesInTwoPartsWithALongPause() throws Exception {
    final int[] calls = {0};
    try (ServerSocket server =
        serve(
            (in, out) -> {
              ++calls[0];
              skipToData(in);
              final ByteArrayOutputStream whole = new ByteArrayOutputStream();
              answer(whole, new ProtoWriter().uint(2, 1));
              final byte[] bytes = whole.toByteArray();
              for (int cut : new int[] {4, 12}) {  // within its header, and within its payload
                out.write(bytes, cut == 4 ? 0 : 4, cut == 4 ? 4 : 8);
                out.flush();
                Thread.sleep(1_500);  // longer than a single wait of the reader
              }
              out.write(bytes, 12, bytes.length - 12);
              out.flush();
              in.read();
            })) {
      final Sender sender = sender(server, new MeterSettings());
      sendEvent(sender);
      assertTrue(sender.flush(LONG_NANOS));
      assertEquals(1, calls[0]);
      assertEquals(log.toString(), 0, log.size());
      sender.stop(0);
    }
  }

  @Test
  public void tasksReportInTurnIfTheBufferIsFull() throws Exception {
    final int tasks = 20;
    final int[] reports = new int[tasks];
    final AtomicInteger unfair = new AtomicInteger();
    final CountDownLatch enough = new CountDownLatch(10 * tasks);
    try (ListeningMaster master = new ListeningMaster()) {
      master.listen();
      final MeterSettings settings = new MeterSettings();
      settings.setFlushNanos(0);
      final Sender sender =
          new Sender(
              Endpoint.of(master.address, "", null),
              new Source("test", "source", "job", "run"),
              4_096,  // room for a few of them at a time
              settings,
              log::add,
              new Guard(log::add));
      for (int i = 0; i < tasks; ++i) {
        final int task = i;
        sender.startReports(
            () -> {
              ++reports[task];
              if (Arrays.stream(reports).max().getAsInt()
                  > Arrays.stream(reports).min().getAsInt() + 1) {
                unfair.incrementAndGet();
              }
              enough.countDown();
              return Events.heartbeat(new Attempt(0, 0, task, 0), 1, 2, 3);
            });
      }
      assertTrue(enough.await(30, TimeUnit.SECONDS));
      sender.stop(0);
      assertEquals(0, unfair.get());
      assertEquals(0, master.dropped());
    }
  }
}
