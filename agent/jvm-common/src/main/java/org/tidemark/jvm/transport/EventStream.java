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
 * One call of IngestService.StreamEvents over a connection of its own: writes messages, gives the
 * answers to a listener.
 *
 * <p>The sender's thread opens, writes and closes; a second daemon thread reads. That one never
 * writes, so a master that does not read cannot keep it from noticing silence and closing the
 * socket, which also frees a writer that waits for room.
 */
final class EventStream {
  /** What the reading thread tells. */
  interface Listener {
    /** One message came: a StreamEventsResponse. */
    void answered(byte[] message);

    /** Something changed: there may be more to write, or the stream has ended. */
    void changed();

    /** Whether the master owes an answer. */
    boolean awaitsAnswer();

    /** It has owed an answer for so long, whatever else it sent. */
    void silent(long nanos);
  }

  private static final String METHOD = "/tidemark.v1.IngestService/StreamEvents";
  private static final int CONNECT_TIMEOUT_MILLIS = 2_000;
  private static final long HANDSHAKE_NANOS_MAX = 3_000_000_000L;
  private static final int LOOK_AGAIN_MILLIS = 1_000;
  // As the agent in C++: no error reports that the network was cut.
  static final long ANSWER_TIMEOUT_NANOS = 60_000_000_000L;
  private static final int WINDOW_REFILL_BYTES = 16_384;
  /** So many wait only for a master that does not read. */
  private static final int CONTROLS_MAX = 100;

  private final Listener listener;
  private final Guard guard;
  private final long answerTimeoutNanos;
  /** Null until it is connected. */
  private volatile TickingSocket socket;
  private OutputStream out;

  // Guarded by this.
  private final ArrayDeque<Http2.Frame> controls = new ArrayDeque<>();
  private long connectionWindow = Http2.WINDOW_BYTES;
  private long streamWindow = Http2.WINDOW_BYTES;
  private long initialWindow = Http2.WINDOW_BYTES;
  private boolean ended;
  private String whyEnded = "closed the connection without an answer";

  // The reading thread's own.
  private final Reading reading = new Reading();
  private final Messages answers = new Messages(reading);
  private Http2.FrameReader frames;
  private int unreportedBytes;
  private long silentSinceNanos;

  /** A master that has owed an answer for {@code answerTimeoutNanos} is given up. */
  EventStream(Listener listener, Guard guard, long answerTimeoutNanos) {
    this.listener = listener;
    this.guard = guard;
    this.answerTimeoutNanos = answerTimeoutNanos;
  }

  /**
   * Connects and starts the call about a job. Apart from the name's look-up, it takes at most two seconds for
   * each of the name's addresses, and about three for the handshake of TLS, however it drags on.
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

  /** What the master did to a stream that has ended: "refuses reports: UNAUTHENTICATED: ...". */
  synchronized String whyEnded() {
    return whyEnded;
  }

  /**
   * Takes one gRPC message, waiting for room in the windows; IOException once the stream ended. It may
   * stay here until the next {@link #flush}.
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

  /** Writes what was taken, and what the protocol owes the master. */
  void flush() throws IOException {
    writeControls();
    out.flush();
  }

  private void writeControls() throws IOException {
    for (Http2.Frame control = nextControl(); control != null; control = nextControl()) {
      Http2.write(out, control.type, control.flags, control.stream, control.payload);
    }
  }

  /** Says goodbye if that can be done at once, and ends everything. Idempotent. */
  void close() {
    try {
      if (!isEnded() && out != null) {
        Http2.write(out, Http2.DATA, Http2.END_STREAM, 1, new byte[0]);
        out.flush();
      }
    } catch (IOException alreadyGone) {
      // Closing is all that was left to do.
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
      wait(LOOK_AGAIN_MILLIS);
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

  /** Ends everything at once, and frees a writer that waits. Idempotent. */
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
      // No longer needed.
    }
  }

  /** Each lambda in its stead would take a process longer to link than this class to load. */
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
      // As whyEnded has it.
    } catch (IOException | RuntimeException connectionLost) {
      endsBecause("gave no proper answer: " + Reasons.of(connectionLost));
    } catch (Error ours) {
      // Before anyone hears that the stream has ended and makes another.
      guard.turnOff(ours);
    } finally {
      end();
      listener.changed();
    }
  }

  private synchronized void endsBecause(String reason) {
    // What follows our own end of it is no news.
    if (!ended) {
      whyEnded = reason;
    }
  }

  private static void checkHandshake(long sinceNanos) throws IOException {
    if (System.nanoTime() - sinceNanos > HANDSHAKE_NANOS_MAX) {
      throw new IOException("the handshake takes too long");
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
      throw new IOException("no answer in time");
    }
  }

  /** False: the call is over. */
  private boolean take(Http2.Frame frame) throws IOException {
    switch (frame.type) {
      case Http2.DATA:
        takeData(frame);
        return !frame.has(Http2.END_STREAM);
      case Http2.HEADERS:
        if (frame.has(Http2.END_STREAM)) {
          endsBecause("refuses reports: " + Trailers.statusIn(frame));
          return false;
        }
        return true;
      case Http2.RST_STREAM:
        endsBecause("broke the call off with HTTP/2's code " + frame.uint32(0));
        return false;
      case Http2.GOAWAY:
        endsBecause("broke the connection off with HTTP/2's code " + frame.uint32(4));
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
      throw new IOException("more padding than data");
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
      throw new IOException("a PING of " + frame.payload.length + " bytes");
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
        throw new IOException("it asks for more than it reads");
      }
      controls.addLast(new Http2.Frame(type, flags, stream, payload));
      notifyAll();
    }
    listener.changed();
  }
}
