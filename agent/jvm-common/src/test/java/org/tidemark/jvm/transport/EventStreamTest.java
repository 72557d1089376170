package org.tidemark.jvm.transport;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.support.FaultyMaster;

/** Tests one call, and the frames that a master may send in it. */
public class EventStreamTest {
  @Rule public final Timeout patience = Timeout.seconds(60);

  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final BlockingQueue<byte[]> answers = new LinkedBlockingQueue<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final List<String> log = new CopyOnWriteArrayList<>();
  private FaultyMaster master;
  private EventStream stream;

  private class Recorder implements EventStream.Listener {
    @Override
    public void answered(byte[] message) {
      answers.add(message);
    }

    @Override
    public void changed() {
      if (stream.isEnded()) {
        ended.countDown();
        return;
      }
      try {
        stream.flush();
      } catch (IOException gone) {
        // The reader reports the error.
      }
    }

    @Override
    public boolean awaitsAnswer() {
      return true;
    }

    @Override
    public void silent(long nanos) {}
  }

  @After
  public void close() throws Exception {
    stream.end();
    master.close();
  }

  /** Opens a call to a master, which continues the call with {@code behaviour}. */
  private void open(FaultyMaster.Behaviour behaviour) throws IOException {
    open(behaviour, new Recorder(), LONG_NANOS);
  }

  private void open(
      FaultyMaster.Behaviour behaviour, EventStream.Listener listener, long answerTimeoutNanos)
      throws IOException {
    master =
        FaultyMaster.with(
            (in, out) -> {
              Calls.skipTo(Http2.HEADERS, in);
              behaviour.meet(in, out);
              in.read();
            });
    stream = new EventStream(listener, new Guard(log::add), answerTimeoutNanos);
    stream.open(Endpoint.of(master.address, "", null), "job");
  }

  private String whyEnded() throws InterruptedException {
    ended.await();
    return stream.whyEnded();
  }

  private void assertEndsWith(String reason) throws InterruptedException {
    assertTrue(whyEnded(), whyEnded().endsWith(reason));
  }

  private static byte[] framed(String message) {
    return Calls.framed(message.getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  public void goAwayEndsTheCallWithItsReason() throws Exception {
    final byte[] enhanceYourCalm = {0, 0, 0, 1, 0, 0, 0, 11};
    open((in, out) -> Calls.send(out, Http2.GOAWAY, 0, 0, enhanceYourCalm));
    assertEquals("closed the connection with HTTP/2 code 11", whyEnded());
  }

  @Test
  public void aResetEndsTheCallWithItsReason() throws Exception {
    open((in, out) -> Calls.send(out, Http2.RST_STREAM, 0, 1, Http2.int32(8)));
    assertEquals("cancelled the call with HTTP/2 code 8", whyEnded());
  }

  @Test
  public void anInvalidPingEndsTheCall() throws Exception {
    open((in, out) -> Calls.send(out, Http2.PING, 0, 0, new byte[1000]));
    assertEndsWith("a PING frame has 1000 bytes instead of 8");
  }

  @Test
  public void aPaddedResponseArrives() throws Exception {
    open(
        (in, out) -> {
          for (byte[] part : new byte[][] {framed("first"), framed("second")}) {
            final byte[] padded = new byte[1 + part.length + 200];
            padded[0] = (byte) 200;
            System.arraycopy(part, 0, padded, 1, part.length);
            Calls.send(out, Http2.DATA, Http2.PADDED, 1, padded);
          }
        });
    assertEquals("first", new String(answers.take(), StandardCharsets.US_ASCII));
    assertEquals("second", new String(answers.take(), StandardCharsets.US_ASCII));
  }

  @Test
  public void morePaddingThanDataEndsTheCall() throws Exception {
    open((in, out) -> Calls.send(out, Http2.DATA, Http2.PADDED, 1, new byte[] {9, 0, 0}));
    assertEndsWith("a frame has more padding than data");
  }

  @Test
  public void aPingIsAnswered() throws Exception {
    final byte[] ping = {1, 2, 3, 4, 5, 6, 7, 8};
    final BlockingQueue<Http2.Frame> received = new LinkedBlockingQueue<>();
    open(
        (in, out) -> {
          Calls.send(out, Http2.PING, 0, 0, ping);
          received.add(new Http2.FrameReader(in).read());
        });
    final Http2.Frame pong = received.take();
    assertEquals(Http2.PING, pong.type);
    assertTrue(pong.has(Http2.ACK));
    assertArrayEquals(ping, pong.payload);
  }

  @Test
  public void aPingingMasterThatReadsNothingIsDisconnected() throws Exception {
    final Semaphore changes = new Semaphore(0);
    final Recorder listener =
        new Recorder() {
          @Override
          public void changed() {
            changes.release();
          }
        };
    open(
        (in, out) -> {
          final OutputStream buffered = new BufferedOutputStream(out);
          while (true) {  // The loop ends when the connection is closed.
            Http2.write(buffered, Http2.PING, 0, 0, new byte[Http2.PING_BYTES]);
          }
        },
        listener,
        LONG_NANOS);
    try {
      while (!stream.isEnded()) {
        changes.acquire();
        stream.flush();  // The sender's thread also flushes.
      }
    } catch (IOException cutOff) {
      // The writer waited, since the master does not read.
    }
    assertTrue(
        stream.whyEnded(),
        stream.whyEnded().endsWith("it does not read the replies to its control frames"));
  }

  @Test
  public void pingsDoNotCountAsResponses() throws Exception {
    open(
        (in, out) -> {
          while (true) {
            Calls.send(out, Http2.PING, Http2.ACK, 0, new byte[Http2.PING_BYTES]);
            Thread.sleep(50);
          }
        },
        new Recorder(),
        SHORT_NANOS);
    assertEndsWith("no response in time");
  }

  @Test
  public void anEndlessFrameIsNoResponse() throws Exception {
    open(
        (in, out) -> {
          out.write(new byte[] {0, 0x40, 0, Http2.DATA, 0, 0, 0, 0, 1});
          while (true) {
            out.write(0);
            out.flush();
            Thread.sleep(50);
          }
        },
        new Recorder(),
        SHORT_NANOS);
    assertEndsWith("no response in time");
  }

  @Test
  public void aResponseBeyondTheLimitEndsTheCall() throws Exception {
    open((in, out) -> Calls.send(out, Http2.DATA, 0, 1, new byte[] {0, 0, 2, 0, 1}));
    assertEndsWith("not a response of IngestService");
  }

  @Test
  public void aWindowBelowTheBytesInFlightWaitsForAnUpdate() throws Exception {
    final CountDownLatch firstHalfIsThere = new CountDownLatch(1);
    final CountDownLatch windowIsSmall = new CountDownLatch(1);
    final BlockingQueue<Integer> sizes = new LinkedBlockingQueue<>();
    open(
        (in, out) -> {
          readData(in, 30_005);
          firstHalfIsThere.countDown();
          // 30,005 bytes are in flight, which exceeds this window by 20,005.
          final byte[] window = {0, 4, 0, 0, 0x27, 0x10}; // 10,000
          Calls.send(out, Http2.SETTINGS, 0, 0, window);
          Calls.next(Http2.SETTINGS, in);
          windowIsSmall.countDown();
          Calls.send(out, Http2.WINDOW_UPDATE, 0, 1, Http2.int32(20_006));
          sizes.add(readData(in, 1));
          Calls.send(out, Http2.WINDOW_UPDATE, 0, 1, Http2.int32(30_004));
          sizes.add(readData(in, 30_004));
        });
    stream.write(new byte[30_000]);
    stream.flush();
    firstHalfIsThere.await();
    windowIsSmall.await();
    stream.write(new byte[30_000]);
    stream.flush();
    assertEquals(1, (int) sizes.take());
    assertEquals(30_004, (int) sizes.take());
  }

  /** Reads data until the wanted number of bytes has arrived. Returns their number. */
  private static int readData(InputStream in, int wanted) throws IOException {
    int bytes = 0;
    while (bytes < wanted) {
      bytes += Calls.next(Http2.DATA, in).payload.length;
    }
    return bytes;
  }
}
