package org.tidemark.jvm.transport;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
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
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.support.FaultyMaster;

/** Tests one call and the frames that a master may send in it. */
public class EventStreamTest {
  @Rule public final Timeout patience = Timeout.seconds(60);

  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final BlockingQueue<byte[]> answers = new LinkedBlockingQueue<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final List<String> log = new CopyOnWriteArrayList<>();
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

  private void open(FaultyMaster master) throws IOException {
    open(master, LONG_NANOS);
  }

  private void open(FaultyMaster master, long answerTimeoutNanos) throws IOException {
    stream = new EventStream(new Recorder(), new Guard(log::add), answerTimeoutNanos);
    stream.open(Endpoint.of(master.address, "", null), "job");
  }

  private String whyEnded() throws InterruptedException {
    ended.await();
    return stream.whyEnded();
  }

  /** Reads the start of a call. */
  private static void skipCall(InputStream in) throws IOException {
    new DataInputStream(in).readFully(new byte[24]);
    while (new Http2.FrameReader(in).read().type != Http2.HEADERS) {}
  }

  private static byte[] framed(String message) {
    final byte[] bytes = message.getBytes(StandardCharsets.US_ASCII);
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(0);
    out.writeBytes(Http2.int32(bytes.length));
    out.writeBytes(bytes);
    return out.toByteArray();
  }

  /** Sends the frame to a call and returns why it ended. */
  private String whyEndedAfter(int type, byte[] payload) throws Exception {
    try (FaultyMaster master =
        FaultyMaster.with(
            (in, out) -> {
              skipCall(in);
              Http2.write(out, type, 0, type == Http2.RST_STREAM ? 1 : 0, payload);
              out.flush();
              in.read();
            })) {
      open(master);
      return whyEnded();
    }
  }

  @Test
  public void goAwayEndsTheCallWithItsReason() throws Exception {
    final byte[] enhanceYourCalm = {0, 0, 0, 1, 0, 0, 0, 11};
    assertEquals(
        "closed the connection with HTTP/2 code 11",
        whyEndedAfter(Http2.GOAWAY, enhanceYourCalm));
  }

  @Test
  public void aResetEndsTheCallWithItsReason() throws Exception {
    assertEquals(
        "cancelled the call with HTTP/2 code 8",
        whyEndedAfter(Http2.RST_STREAM, Http2.int32(8)));
  }

  @Test
  public void anInvalidPingEndsTheCall() throws Exception {
    final String why = whyEndedAfter(Http2.PING, new byte[1000]);
    assertTrue(why, why.endsWith("a PING of 1000 bytes"));
  }

  @Test
  public void aPaddedResponseArrives() throws Exception {
    try (FaultyMaster master =
        FaultyMaster.with(
            (in, out) -> {
              skipCall(in);
              for (byte[] part : new byte[][] {framed("first"), framed("second")}) {
                final byte[] padded = new byte[1 + part.length + 200];
                padded[0] = (byte) 200;
                System.arraycopy(part, 0, padded, 1, part.length);
                Http2.write(out, Http2.DATA, Http2.PADDED, 1, padded);
              }
              out.flush();
              in.read();
            })) {
      open(master);
      assertEquals("first", new String(answers.take(), StandardCharsets.US_ASCII));
      assertEquals("second", new String(answers.take(), StandardCharsets.US_ASCII));
      stream.end();
    }
  }

  @Test
  public void morePaddingThanDataEndsTheCall() throws Exception {
    try (FaultyMaster master =
        FaultyMaster.with(
            (in, out) -> {
              skipCall(in);
              Http2.write(out, Http2.DATA, Http2.PADDED, 1, new byte[] {9, 0, 0});
              out.flush();
              in.read();
            })) {
      open(master);
      final String why = whyEnded();
      assertTrue(why, why.endsWith("more padding than data"));
    }
  }

  @Test
  public void aPingIsAnswered() throws Exception {
    final byte[] ping = {1, 2, 3, 4, 5, 6, 7, 8};
    final BlockingQueue<Http2.Frame> received = new LinkedBlockingQueue<>();
    try (FaultyMaster master =
        FaultyMaster.with(
            (in, out) -> {
              skipCall(in);
              Http2.write(out, Http2.PING, 0, 0, ping);
              out.flush();
              received.add(new Http2.FrameReader(in).read());
              in.read();
            })) {
      open(master);
      final Http2.Frame pong = received.take();
      assertEquals(Http2.PING, pong.type);
      assertTrue(pong.has(Http2.ACK));
      assertArrayEquals(ping, pong.payload);
      stream.end();
    }
  }

  @Test
  public void aPingingMasterThatReadsNothingIsDisconnected() throws Exception {
    try (FaultyMaster master =
        FaultyMaster.with(
            (in, out) -> {
              skipCall(in);
              final OutputStream buffered = new BufferedOutputStream(out);
              while (true) {  // until the connection is closed
                Http2.write(buffered, Http2.PING, 0, 0, new byte[Http2.PING_BYTES]);
              }
            })) {
      final Semaphore changes = new Semaphore(0);
      stream =
          new EventStream(
              new Recorder() {
                @Override
                public void changed() {
                  changes.release();
                }
              },
              new Guard(log::add),
              LONG_NANOS);
      stream.open(Endpoint.of(master.address, "", null), "job");
      try {
        while (!stream.isEnded()) {
          changes.acquire();
          stream.flush();  // as the sender's thread does
        }
      } catch (IOException cutOff) {
        // The writer waited for a master that does not read.
      }
      assertTrue(stream.whyEnded(), stream.whyEnded().endsWith("it sends requests but does not read"));
    }
  }

  @Test
  public void pingsDoNotCountAsResponses() throws Exception {
    try (FaultyMaster master =
        FaultyMaster.with(
            (in, out) -> {
              skipCall(in);
              while (true) {
                Http2.write(out, Http2.PING, Http2.ACK, 0, new byte[Http2.PING_BYTES]);
                out.flush();
                Thread.sleep(50);
              }
            })) {
      open(master, TimeUnit.MILLISECONDS.toNanos(500));
      final String why = whyEnded();
      assertTrue(why, why.endsWith("no response in time"));
    }
  }

  @Test
  public void anEndlessFrameIsNoResponse() throws Exception {
    try (FaultyMaster master =
        FaultyMaster.with(
            (in, out) -> {
              skipCall(in);
              out.write(new byte[] {0, 0x40, 0, Http2.DATA, 0, 0, 0, 0, 1});
              while (true) {
                out.write(0);
                out.flush();
                Thread.sleep(50);
              }
            })) {
      open(master, TimeUnit.MILLISECONDS.toNanos(500));
      final String why = whyEnded();
      assertTrue(why, why.endsWith("no response in time"));
    }
  }

  @Test
  public void aResponseBeyondTheLimitEndsTheCall() throws Exception {
    try (FaultyMaster master =
        FaultyMaster.with(
            (in, out) -> {
              skipCall(in);
              final byte[] head = {0, 0, 2, 0, 1};
              Http2.write(out, Http2.DATA, 0, 1, head);
              out.flush();
              in.read();
            })) {
      open(master);
      final String why = whyEnded();
      assertTrue(why, why.endsWith("not an answer of IngestService"));
    }
  }

  @Test
  public void aWindowBelowTheBytesInFlightWaitsForAnUpdate() throws Exception {
    final CountDownLatch firstHalfIsThere = new CountDownLatch(1);
    final CountDownLatch windowIsSmall = new CountDownLatch(1);
    final BlockingQueue<Integer> sizes = new LinkedBlockingQueue<>();
    try (FaultyMaster master =
        FaultyMaster.with(
            (in, out) -> {
              skipCall(in);
              final Http2.FrameReader frames = new Http2.FrameReader(in);
              readData(frames, 30_005);
              firstHalfIsThere.countDown();
              // 30,005 bytes are in flight, 20,005 more than this window.
              final byte[] window = {0, 4, 0, 0, 0x27, 0x10}; // 10,000
              Http2.write(out, Http2.SETTINGS, 0, 0, window);
              out.flush();
              while (frames.read().type != Http2.SETTINGS) {}
              windowIsSmall.countDown();
              Http2.write(out, Http2.WINDOW_UPDATE, 0, 1, Http2.int32(20_006));
              out.flush();
              sizes.add(readData(frames, 1));
              Http2.write(out, Http2.WINDOW_UPDATE, 0, 1, Http2.int32(30_004));
              out.flush();
              sizes.add(readData(frames, 30_004));
              in.read();
            })) {
      open(master);
      stream.write(new byte[30_000]);
      stream.flush();
      firstHalfIsThere.await();
      windowIsSmall.await();
      stream.write(new byte[30_000]);
      stream.flush();
      assertEquals(1, (int) sizes.take());
      assertEquals(30_004, (int) sizes.take());
      stream.end();
    }
  }

  /** Reads data until that many bytes have arrived. Returns the number. */
  private static int readData(Http2.FrameReader frames, int wanted) throws IOException {
    int bytes = 0;
    while (bytes < wanted) {
      final Http2.Frame frame = frames.read();
      bytes += frame.type == Http2.DATA ? frame.payload.length : 0;
    }
    return bytes;
  }
}
