package org.tidemark.jvm.transport;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayDeque;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Reasons;

/**
 * One call of IngestService.StreamEvents on its own connection. Writes messages and passes
 * responses to a listener.
 *
 * <p>The sender's thread opens, writes and closes; a second daemon thread reads. The reading thread
 * never writes, so it detects silence and closes the socket even if the master does not read.
 * Closing also releases a writer that waits for space.
 */
final class EventStream {
  /** Receives events of the reading thread. */
  interface Listener {
    /** Called when a StreamEventsResponse has arrived. */
    void answered(byte[] message);

    /** Called when more data can be written or when the stream has ended. */
    void changed();

    /** Returns true if a response of the master is due. */
    boolean awaitsAnswer();

    /** Called when the master has not responded for {@code nanos}, even if it sent other frames. */
    void silent(long nanos);
  }

  private static final String METHOD = "/tidemark.v1.IngestService/StreamEvents";
  private static final int CONNECT_TIMEOUT_MILLIS = 2_000;
  private static final long HANDSHAKE_NANOS_MAX = 3_000_000_000L;
  private static final int CHECK_MILLIS = 1_000;
  // Equals the timeout of the C++ agent. The timeout detects a cut network, which causes no error.
  static final long ANSWER_TIMEOUT_NANOS = 60_000_000_000L;
  private static final int WINDOW_REFILL_BYTES = 16_384;
  /** More frames than this wait only if the master does not read. */
  private static final int CONTROLS_MAX = 100;

  private final Listener listener;
  private final Guard guard;
  private final long answerTimeoutNanos;
  /** Null until the stream is connected. */
  private volatile TickingSocket socket;
  private OutputStream out;

  // Guarded by this.
  private final ArrayDeque<Http2.Frame> controls = new ArrayDeque<>();
  private long connectionWindow = Http2.WINDOW_BYTES;
  private long streamWindow = Http2.WINDOW_BYTES;
  private long initialWindow = Http2.WINDOW_BYTES;
  private boolean ended;
  private String whyEnded = "closed the connection without a response";

  // Owned by the reading thread.
  private final Reading reading = new Reading();
  private final Messages answers = new Messages(reading);
  private Http2.FrameReader frames;
  private int unreportedBytes;
  private long silentSinceNanos;

  /** Ends the stream if the master does not respond for {@code answerTimeoutNanos}. */
  EventStream(Listener listener, Guard guard, long answerTimeoutNanos) {
    this.listener = listener;
    this.guard = guard;
    this.answerTimeoutNanos = answerTimeoutNanos;
  }

  /**
   * Connects and starts the call for a job. However slow the master is, this takes at most two
   * seconds for each address and about three for the TLS handshake, apart from the name lookup.
   */
  void open(Endpoint master, String jobId) throws IOException {
    socket =
        TickingSocket.connectedTo(
            InetAddress.getAllByName(master.host), master.port, CONNECT_TIMEOUT_MILLIS);
    final Socket channel = master.tls == null ? socket : encrypted(master);
    silentSinceNanos = System.nanoTime();
    socket.startTicking(reading);
    out = new BufferedOutputStream(channel.getOutputStream(), Http2.FRAME_BYTES_MAX);
    Http2.writeCall(out, master, METHOD, jobId);
    out.flush();
    frames = new Http2.FrameReader(new BufferedInputStream(channel.getInputStream()));
    guard.thread("tidemark-reader", reading).start();
  }

  private Socket encrypted(Endpoint master) throws IOException {
    final long connectedNanos = System.nanoTime();
    socket.startTicking(() -> checkHandshake(connectedNanos));
    return master.tls.over(socket, master.host);
  }

  synchronized boolean isEnded() {
    return ended;
  }

  /** Returns how the master ended the stream, such as "rejects events: UNAUTHENTICATED: ...". */
  synchronized String whyEnded() {
    return whyEnded;
  }

  /**
   * Accepts one gRPC message. Blocks until the flow-control windows have space. Throws IOException
   * once the stream has ended. The message may wait for the next {@link #flush}.
   */
  void write(byte[] message) throws IOException, InterruptedException {
    final byte[] framed = new byte[message.length + 5];
    System.arraycopy(Http2.int32(message.length), 0, framed, 1, 4);
    System.arraycopy(message, 0, framed, 5, message.length);
    for (int at = 0; at < framed.length; ) {
      final int length = takeWindow(framed.length - at);
      Http2.write(out, Http2.DATA, 0, 1, framed, at, length);
      at += length;
    }
    writeControls();
  }

  /** Writes accepted messages and pending protocol frames. */
  void flush() throws IOException {
    writeControls();
    out.flush();
  }

  private void writeControls() throws IOException {
    for (Http2.Frame control = nextControl(); control != null; control = nextControl()) {
      Http2.write(out, control.type, control.flags, control.stream, control.payload);
    }
  }

  /** Ends the stream, gracefully if that is possible without waiting. Idempotent. */
  void close() {
    try {
      if (!isEnded() && out != null) {
        Http2.write(out, Http2.DATA, Http2.END_STREAM, 1, new byte[0]);
        out.flush();
      }
    } catch (IOException alreadyGone) {
      // The stream is already closing.
    }
    end();
  }

  private synchronized Http2.Frame nextControl() {
    return controls.pollFirst();
  }

  private int takeWindow(int wanted) throws IOException, InterruptedException {
    int taken = tryTakeWindow(wanted);
    while (taken == 0) {
      flush();
      awaitChange();
      taken = tryTakeWindow(wanted);
    }
    return taken;
  }

  private synchronized void awaitChange() throws InterruptedException {
    if (!ended && controls.isEmpty() && Math.min(connectionWindow, streamWindow) <= 0) {
      wait(CHECK_MILLIS);
    }
  }

  private synchronized int tryTakeWindow(int wanted) throws IOException {
    if (ended) {
      throw new IOException("the stream ended");
    }
    final long room = Math.max(0, Math.min(connectionWindow, streamWindow));
    final int taken = (int) Math.min(Math.min(wanted, room), Http2.FRAME_BYTES_MAX);
    connectionWindow -= taken;
    streamWindow -= taken;
    return taken;
  }

  /** Closes the stream immediately, and releases a waiting writer. Idempotent. */
  void end() {
    synchronized (this) {
      ended = true;
      notifyAll();
    }
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException alreadyGone) {
    }
  }

  /** This is a class because a process takes longer to link lambdas than to load a class. */
  private final class Reading implements Guard.Work, Messages.Taker, TickingSocket.Tick {
    @Override
    public void run() {
      readAll();
    }

    @Override
    public void take(byte[] message) {
      silentSinceNanos = System.nanoTime();
      listener.answered(message);
    }

    @Override
    public void tick() throws IOException {
      checkSilence();
    }
  }

  private void readAll() {
    try {
      while (!isEnded() && take(frames.read())) {}
    } catch (EOFException closed) {
      // whyEnded() returns the reason.
    } catch (IOException | RuntimeException connectionLost) {
      endsBecause("sent an invalid response: " + Reasons.of(connectionLost));
    } catch (Error ours) {
      // Turn the connector off before another thread detects the end of the stream and opens a new
      // one.
      guard.turnOff(ours);
    } finally {
      end();
      listener.changed();
    }
  }

  private synchronized void endsBecause(String reason) {
    // Errors after a local close are expected.
    if (!ended) {
      whyEnded = reason;
    }
  }

  private static void checkHandshake(long sinceNanos) throws IOException {
    if (System.nanoTime() - sinceNanos > HANDSHAKE_NANOS_MAX) {
      throw new IOException("the handshake timed out");
    }
  }

  private void checkSilence() throws IOException {
    final long now = System.nanoTime();
    if (!listener.awaitsAnswer()) {
      silentSinceNanos = now;
      return;
    }
    listener.silent(now - silentSinceNanos);
    if (now - silentSinceNanos > answerTimeoutNanos) {
      throw new IOException("no response in time");
    }
  }

  /** Processes one frame. Returns false if the call is over. */
  private boolean take(Http2.Frame frame) throws IOException {
    switch (frame.type) {
      case Http2.DATA:
        takeData(frame);
        return !frame.has(Http2.END_STREAM);
      case Http2.HEADERS:
        if (frame.has(Http2.END_STREAM)) {
          endsBecause("rejects events: " + Trailers.statusIn(frame));
          return false;
        }
        return true;
      case Http2.RST_STREAM:
        endsBecause("cancelled the call with HTTP/2 code " + frame.uint32(0));
        return false;
      case Http2.GOAWAY:
        endsBecause("closed the connection with HTTP/2 code " + frame.uint32(4));
        return false;
      case Http2.SETTINGS:
        takeSettings(frame);
        return true;
      case Http2.PING:
        takePing(frame);
        return true;
      case Http2.WINDOW_UPDATE:
        takeWindowUpdate(frame);
        return true;
      default:
        return true;
    }
  }

  private void takeData(Http2.Frame frame) throws IOException {
    int from = 0;
    int length = frame.payload.length;
    if (frame.has(Http2.PADDED) && length > 0) {
      from = 1;
      length -= 1 + (frame.payload[0] & 0xFF);
    }
    if (length < 0) {
      throw new IOException("a frame has more padding than data");
    }
    unreportedBytes += frame.payload.length;
    if (unreportedBytes >= WINDOW_REFILL_BYTES) {
      queue(Http2.WINDOW_UPDATE, 0, 0, Http2.int32(unreportedBytes));
      queue(Http2.WINDOW_UPDATE, 0, 1, Http2.int32(unreportedBytes));
      unreportedBytes = 0;
    }
    answers.add(frame.payload, from, length);
  }

  private void takePing(Http2.Frame frame) throws IOException {
    if (frame.payload.length != Http2.PING_BYTES) {
      throw new IOException("a PING frame has " + frame.payload.length + " bytes instead of 8");
    }
    if (!frame.has(Http2.ACK)) {
      queue(Http2.PING, Http2.ACK, 0, frame.payload);
    }
  }

  private void takeSettings(Http2.Frame frame) throws IOException {
    if (frame.has(Http2.ACK)) {
      return;
    }
    synchronized (this) {
      for (int at = 0; at + 6 <= frame.payload.length; at += 6) {
        final int id = (frame.payload[at] & 0xFF) << 8 | frame.payload[at + 1] & 0xFF;
        if (id == Http2.SETTINGS_INITIAL_WINDOW_SIZE) {
          final long window = frame.uint32(at + 2);
          streamWindow += window - initialWindow;
          initialWindow = window;
        }
      }
      notifyAll();
    }
    queue(Http2.SETTINGS, Http2.ACK, 0, new byte[0]);
  }

  private synchronized void takeWindowUpdate(Http2.Frame frame) {
    final long more = Math.max(0, frame.uint32(0)) & 0x7FFFFFFFL;
    if (frame.stream == 0) {
      connectionWindow += more;
    } else if (frame.stream == 1) {
      streamWindow += more;
    }
    notifyAll();
  }

  private void queue(int type, int flags, int stream, byte[] payload) throws IOException {
    synchronized (this) {
      if (controls.size() >= CONTROLS_MAX) {
        throw new IOException("it does not read the replies to its control frames");
      }
      controls.addLast(new Http2.Frame(type, flags, stream, payload));
      notifyAll();
    }
    listener.changed();
  }
}
