package org.tidemark.jvm.transport;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.rules.Timeout;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.profile.PartitionKeys;
import org.tidemark.jvm.support.FaultyMaster;
import org.tidemark.jvm.support.Senders;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.ProtoWriter;

/** Tests the sender with faulty masters. LocalModeIT tests it with a correct master. */
public class SenderTest {
  @Rule public final Timeout patience = Timeout.seconds(120);
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private static final long FLUSH_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  /** Longer than the time limit of a test, which therefore fails after such a wait. */
  private static final long LONG_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final List<String> notes = new CopyOnWriteArrayList<>();
  private final Log log =
      new Log() {
        @Override
        public void warn(String what) {
          warnings.add(what);
        }

        @Override
        public void info(String what) {
          notes.add(what);
        }
      };

  private final MeterSettings settings = new MeterSettings();
  private final CountDownLatch done = new CountDownLatch(1);
  private FaultyMaster master;
  private Sender sender;

  @After
  public void disconnect() throws Exception {
    sender.stop(0);
    done.countDown();
    if (master != null) {
      master.close();
    }
  }

  /** Starts a master and a sender to it. */
  private void connect(FaultyMaster.Behaviour behaviour) throws IOException {
    master = FaultyMaster.with(behaviour);
    connect(master.address, null);
  }

  private void connect(String address, Tls tls) {
    final Endpoint endpoint = Endpoint.of(address, "", tls);
    sender = Senders.to(endpoint, "job", Sender.TASK_BUFFER_BYTES_MAX, settings, log);
  }

  private void connectToSilentMaster() throws IOException {
    connect((in, out) -> done.await());
  }

  private void awaitWarning(String words) throws InterruptedException {
    while (warnings.stream().noneMatch(line -> line.contains(words))) {
      Thread.sleep(20);
    }
  }

  private void sendEvent() {
    sender.send(Events.heartbeat(Attempt.map(0, 0), 1, 2, 3));
  }

  private void checkFlushGivesUp() {
    sendEvent();
    assertFalse(sender.flush(FLUSH_NANOS));
    sender.stop(0);
  }

  @Test
  public void aRefusedConnectionDoesNotDelayTheTask() throws Exception {
    connect(FaultyMaster.absent(), null);
    checkFlushGivesUp();
  }

  /** Returns the connector's thread that is blocked in a write, or null. */
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
    connect(
        (in, out) -> {
          // With the largest window, the writer blocks in the kernel.
          final byte[] largest = Http2.int32(Integer.MAX_VALUE - Http2.WINDOW_BYTES);
          Calls.send(out, Http2.WINDOW_UPDATE, 0, 0, largest);
          Calls.send(out, Http2.WINDOW_UPDATE, 0, 1, largest);
          done.await();
        });
    // The serialized size of this event is close to its size in the buffer.
    final AttemptUpdate large = new AttemptUpdate(Attempt.map(0, 0), Events.State.FAILED);
    large.failure = String.join("", Collections.nCopies(4_000, "x"));
    Thread blocked = null;
    while (blocked == null) {
      for (int i = 0; i < 100; ++i) {
        sender.send(Events.attemptChanged(large));
      }
      Thread.sleep(20);
      blocked = blockedWriter();
    }
    checkFlushGivesUp();
    // stop() unblocks the writer before it returns.
    blocked.join();
  }

  @Test
  public void invalidResponsesDoNotDelayTheJob() throws Exception {
    master = FaultyMaster.garbage();
    connect(master.address, null);
    checkFlushGivesUp();
  }

  @Test
  public void aMasterThatClosesConnectionsDoesNotDelayTheJob() throws Exception {
    connect((in, out) -> in.read());
    checkFlushGivesUp();
  }

  @Test
  public void aFragmentedResponseArrives() throws Exception {
    connect(
        (in, out) -> {
          assertTrue(Calls.skipTo(Http2.DATA, in).payload.length > 5);
          final ByteArrayOutputStream whole = new ByteArrayOutputStream();
          final ProtoWriter control = new ProtoWriter().uintAlways(2, 7).uintAlways(3, 99);
          Calls.answer(whole, new ProtoWriter().uint(2, 1).message(4, control));
          for (byte piece : whole.toByteArray()) {
            out.write(piece);
            out.flush();
          }
          in.read();
        });
    sendEvent();
    assertTrue(sender.flush(LONG_NANOS));
    assertEquals(7, settings.lambda());
    assertEquals(99, settings.burstThresholdBytes());
  }

  @Test
  public void theWaitIsLongerForAMasterThatHasResponded() throws Exception {
    final CountDownLatch ending = new CountDownLatch(1);
    connect(
        (in, out) -> {
          Calls.skipTo(Http2.DATA, in);
          Calls.answer(out, new ProtoWriter().uint(2, 1));
          ending.await();
          Thread.sleep(2 * FLUSH_NANOS / 1_000_000L);
          Calls.answer(out, new ProtoWriter().uint(2, 2));
          in.read();
        });
    sendEvent();
    assertTrue(sender.flush(LONG_NANOS));
    sendEvent();
    ending.countDown();
    assertTrue(sender.flush(FLUSH_NANOS, LONG_NANOS));
  }

  @Test
  public void theWaitIsShortForAMasterThatHasNotResponded() throws Exception {
    connectToSilentMaster();
    sendEvent();
    assertFalse(sender.flush(FLUSH_NANOS, LONG_NANOS));
  }

  @Test
  public void aLostConnectionIsRestoredWithoutLosingEvents() throws Exception {
    final AtomicInteger calls = new AtomicInteger();
    connect(
        (in, out) -> {
          Calls.skipTo(Http2.DATA, in);
          if (calls.incrementAndGet() >= 3) {
            Calls.answer(out, new ProtoWriter().uint(2, 1));
            in.read();
          }
        });
    sendEvent();
    final long deadline = System.nanoTime() + LONG_NANOS;
    while (!sender.flush(LONG_NANOS) && System.nanoTime() < deadline) {
      Thread.sleep(50);
    }
    assertTrue(sender.flush(LONG_NANOS));
    assertEquals(3, calls.get());
  }

  @Test
  public void aMessageBeyondTheWindowWaitsForRoom() throws Exception {
    final CountDownLatch received = new CountDownLatch(1);
    connect(
        (in, out) -> {
          long bytes = Calls.skipTo(Http2.DATA, in).payload.length;
          while (bytes < 150_000) {
            Calls.send(out, Http2.WINDOW_UPDATE, 0, 0, Http2.int32(20_000));
            Calls.send(out, Http2.WINDOW_UPDATE, 0, 1, Http2.int32(20_000));
            bytes += Calls.next(Http2.DATA, in).payload.length;
          }
          received.countDown();
          in.read();
        });
    // Each key has a hash of 8 bytes.
    final PartitionKeys keys = new PartitionKeys(0, 20_000);
    sender.send(Events.mapProfile(Attempt.map(0, 0), Arrays.asList(keys), 0));
    assertTrue(received.await(30, TimeUnit.SECONDS));
  }

  /** Ends the call like gRPC's servers, with literals that request an entry in the table. */
  private static void refuse(OutputStream out, int code, String message) throws IOException {
    final ByteArrayOutputStream block = new ByteArrayOutputStream();
    block.write(0x88); // :status 200
    field(block, "grpc-status", Integer.toString(code));
    field(block, "grpc-message", message);
    final int flags = Http2.END_HEADERS | Http2.END_STREAM;
    Calls.send(out, Http2.HEADERS, flags, 1, block.toByteArray());
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
    connect(
        (in, out) -> {
          Calls.skipTo(Http2.DATA, in);
          refuse(out, 16, "the token is not known%2C at all");
          threeCalls.countDown();
        });
    sendEvent();
    assertTrue(threeCalls.await(30, TimeUnit.SECONDS));
    awaitWarning("rejects events");
    sender.stop(0);
    assertEquals(
        Collections.singletonList(
            "the master at "
                + master.address
                + " rejects events: UNAUTHENTICATED: the token is not known, at all;"
                + " the job itself is not affected"),
        warnings);
  }

  @Test
  public void theReasonOfARejectedEventIsReportedOnce() throws Exception {
    connect(
        (in, out) -> {
          Calls.skipTo(Http2.DATA, in);
          final ProtoWriter rejection =
              new ProtoWriter().uint(1, 1).uint(2, 8).string(3, "at most 5 jobs");
          Calls.answer(out, new ProtoWriter().message(3, rejection).uint(2, 1));
          Calls.answer(out, new ProtoWriter().message(3, rejection).uint(2, 1));
          in.read();
        });
    sendEvent();
    assertTrue(sender.flush(LONG_NANOS));
    awaitWarning(" rejected an event: RESOURCE_EXHAUSTED: at most 5 jobs;");
    assertEquals(warnings.toString(), 1, warnings.size());
  }

  @Test
  public void anUnreachableMasterIsLoggedOnce() throws Exception {
    final String absent = FaultyMaster.absent();
    connect(absent, null);
    for (int i = 0; i < 5; ++i) {
      sendEvent();
      Thread.sleep(100);  // about the interval between the first attempts
    }
    awaitWarning(absent + " cannot be reached: ConnectException");
    sender.stop(0);
    assertEquals(warnings.toString(), 1, warnings.size());
  }

  @Test
  public void aTaskThatEndsBeforeASilentMasterRespondsReportsThis() throws Exception {
    connectToSilentMaster();
    checkFlushGivesUp();
    awaitWarning(" did not respond before this process ended;");
  }

  @Test
  public void aSilentMasterIsReportedDuringTheTask() throws Exception {
    connectToSilentMaster();
    sendEvent();
    awaitWarning(" has not responded for 5 s;");
  }

  /** Connects to a master that acknowledges all events and counts its acknowledgements. */
  private void connectToGoodMaster(CountDownLatch acknowledgements) throws IOException {
    connect(
        (in, out) -> {
          Calls.skipTo(Http2.DATA, in);
          for (long sequence = 1; ; ++sequence) {
            Calls.answer(out, new ProtoWriter().uint(2, sequence));
            acknowledgements.countDown();
            Calls.next(Http2.DATA, in);
          }
        });
  }

  @Test
  public void aRespondingMasterIsLoggedOnce() throws Exception {
    connectToGoodMaster(new CountDownLatch(0));
    for (int i = 0; i < 3; ++i) {
      sendEvent();
      assertTrue(sender.flush(LONG_NANOS));
    }
    sender.stop(0);
    assertEquals(
        Collections.singletonList("progress is reported to the master at " + master.address), notes);
    assertEquals(Collections.emptyList(), warnings);
  }

  @Test
  public void anIdleTaskReportsAtEveryInterval() throws Exception {
    final CountDownLatch reports = new CountDownLatch(5);
    settings.setFlushNanos(TimeUnit.MILLISECONDS.toNanos(50));
    connectToGoodMaster(reports);
    sender.startReports(() -> Events.heartbeat(Attempt.map(0, 0), 1, 2, 3));
    assertTrue(reports.await(30, TimeUnit.SECONDS));
  }

  @Test
  public void aSlowHandshakeIsAborted() throws Exception {
    final CountDownLatch calledAgain = new CountDownLatch(2);
    master =
        FaultyMaster.with(
            (in, out) -> {
              calledAgain.countDown();
              out.write(new byte[] {22, 3, 3, 0x40, 0});  // a TLS record of maximum length
              while (true) {
                out.write(0);
                Thread.sleep(200);
              }
            });
    // The authority is irrelevant, since no certificate arrives.
    connect(master.address, new Tls(folder.newFile(), null, null, ""));
    sendEvent();
    awaitWarning(" cannot be reached: IOException: the handshake timed out");
    assertTrue(calledAgain.await(30, TimeUnit.SECONDS));
  }

  @Test
  public void aFrameArrivesInTwoPartsWithALongPause() throws Exception {
    final AtomicInteger calls = new AtomicInteger();
    connect(
        (in, out) -> {
          calls.incrementAndGet();
          Calls.skipTo(Http2.DATA, in);
          final ByteArrayOutputStream whole = new ByteArrayOutputStream();
          Calls.answer(whole, new ProtoWriter().uint(2, 1));
          final byte[] bytes = whole.toByteArray();
          for (int cut : new int[] {4, 12}) {  // within the header, and within the payload
            out.write(bytes, cut == 4 ? 0 : 4, cut == 4 ? 4 : 8);
            out.flush();
            Thread.sleep(1_500);  // longer than a single wait of the reader
          }
          out.write(bytes, 12, bytes.length - 12);
          out.flush();
          in.read();
        });
    sendEvent();
    assertTrue(sender.flush(LONG_NANOS));
    assertEquals(1, calls.get());
    assertEquals(Collections.emptyList(), warnings);
  }

  @Test
  public void tasksReportInTurnIfTheBufferIsFull() throws Exception {
    final int tasks = 20;
    final int[] reports = new int[tasks];
    final AtomicInteger unfair = new AtomicInteger();
    final CountDownLatch enough = new CountDownLatch(10 * tasks);
    try (ListeningMaster listening = new ListeningMaster()) {
      listening.listen();
      settings.setFlushNanos(0);
      // The buffer has space for only a few events at a time.
      sender = Senders.to(Endpoint.of(listening.address, "", null), "job", 4_096, settings, log);
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
      assertEquals(0, listening.dropped());
    }
  }
}
