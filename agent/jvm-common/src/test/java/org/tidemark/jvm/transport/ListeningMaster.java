package org.tidemark.jvm.transport;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.ProtoReader;
import org.tidemark.jvm.wire.ProtoWriter;

/**
 * A master that records the events of attempts and of a job's end, for one connection. It starts to
 * read and acknowledge when the test requests it.
 */
public final class ListeningMaster implements AutoCloseable {
  private static final int JOB_CLOSED = 2;
  private static final int ATTEMPT_CHANGED = 5;

  public final String address;
  private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private OutputStream out;

  // Guarded by this.
  private boolean listens;
  private final Map<String, List<Events.State>> states = new HashMap<>();
  private final Map<String, Integer> failedTasks = new HashMap<>();
  private long events;
  private long dropped;
  private boolean closed;

  public ListeningMaster() throws IOException {
    address = "127.0.0.1:" + server.getLocalPort();
    final Thread thread = new Thread(this::serve);
    thread.setDaemon(true);
    thread.start();
  }

  public synchronized void listen() {
    listens = true;
    notifyAll();
  }

  /** Returns the states received of an attempt: "m_7_0" is the first of map task 7. */
  public synchronized List<Events.State> statesOf(String attempt) {
    return states.getOrDefault(attempt, new ArrayList<>());
  }

  /** Returns the number of events that reported the attempt as the last of a failed task. */
  public synchronized int failedTasksOf(String attempt) {
    return failedTasks.getOrDefault(attempt, 0);
  }

  public synchronized int attempts() {
    return states.size();
  }

  public synchronized long events() {
    return events;
  }

  /** Returns the number of events that the connector reported as dropped. */
  public synchronized long dropped() {
    return dropped;
  }

  public synchronized void awaitEvents(long wanted) throws InterruptedException {
    while (events < wanted) {
      wait();
    }
  }

  public synchronized void awaitClosed() throws InterruptedException {
    while (!closed) {
      wait();
    }
  }

  private void serve() {
    try (Socket socket = server.accept()) {
      synchronized (this) {
        while (!listens) {
          wait();
        }
      }
      out = new BufferedOutputStream(socket.getOutputStream());
      final DataInputStream in =
          new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
      in.readFully(new byte[24]);
      final Http2.FrameReader frames = new Http2.FrameReader(in);
      final Messages messages = new Messages(this::take);
      while (true) {
        final Http2.Frame frame = frames.read();
        if (frame.type == Http2.DATA && frame.payload.length > 0) {
          messages.add(frame.payload, 0, frame.payload.length);
          Http2.write(out, Http2.WINDOW_UPDATE, 0, 0, Http2.int32(frame.payload.length));
          Http2.write(out, Http2.WINDOW_UPDATE, 0, 1, Http2.int32(frame.payload.length));
        }
        if (in.available() == 0) {
          out.flush();
        }
      }
    } catch (IOException | InterruptedException gone) {
      // The connection has ended.
    }
  }

  private void take(byte[] request) {
    final ProtoReader batch = new ProtoReader(request);
    long sequence = 0;
    synchronized (this) {
      while (batch.next()) {
        if (batch.field() == 4) {
          sequence = batch.value() - 1;
        } else if (batch.field() == 6) {
          dropped = batch.value();
        } else if (batch.field() == 7) {
          ++sequence;
          ++events;
          readEvent(new ProtoReader(batch.content()));
        }
      }
      notifyAll();
    }
    acknowledge(sequence);
  }

  private void readEvent(ProtoReader event) {
    event.next();
    if (event.field() == ATTEMPT_CHANGED) {
      readAttempt(new ProtoReader(event.content()));
    } else if (event.field() == JOB_CLOSED) {
      closed = true;
    }
  }

  private void acknowledge(long sequence) {
    final byte[] answer = new ProtoWriter().uint(2, sequence).toByteArray();
    final byte[] framed = new byte[5 + answer.length];
    framed[4] = (byte) answer.length;
    System.arraycopy(answer, 0, framed, 5, answer.length);
    try {
      Http2.write(out, Http2.DATA, 0, 1, framed);
    } catch (IOException gone) {
      // The next read reports it as well.
    }
  }

  private void readAttempt(ProtoReader changed) {
    String attempt = "";
    Events.State state = Events.State.UNSPECIFIED;
    int failed = 0;
    while (changed.next()) {
      if (changed.field() == 10) {
        failed = (int) changed.value();
      } else if (changed.field() == 1) {
        attempt = nameOf(new ProtoReader(changed.content()));
      } else if (changed.field() == 2) {
        state = Events.State.values()[(int) changed.value()];
      }
    }
    states.computeIfAbsent(attempt, none -> new ArrayList<>()).add(state);
    failedTasks.merge(attempt, failed, Integer::sum);
  }

  /** Formats a TaskAttemptId. */
  private static String nameOf(ProtoReader id) {
    final long[] fields = new long[5];
    while (id.next()) {
      fields[id.field()] = id.value();
    }
    return (fields[1] == 0 ? "m_" : "r_") + fields[3] + "_" + fields[4];
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
