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
import org.tidemark.jvm.support.Fields;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.ProtoWriter;

/**
 * A master with one connection, which records events of attempts and of the end of a job. It reads
 * and acknowledges only after the test requests it.
 */
public final class ListeningMaster implements AutoCloseable {
  private static final int JOB_CLOSED = 2;
  private static final int ATTEMPT_CHANGED = 5;
  private static final int TASK_HEARTBEAT = 6;

  public final String address;
  private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private OutputStream out;

  // Guarded by this.
  private boolean listens;
  private final Map<String, List<Events.State>> states = new HashMap<>();
  private final Map<String, Integer> failedTasks = new HashMap<>();
  private final Map<String, List<Long>> bytes = new HashMap<>();
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

  /**
   * Returns the received states of an attempt, such as "m_7_0" for the first attempt at map task 7.
   */
  public synchronized List<Events.State> statesOf(String attempt) {
    return states.getOrDefault(attempt, new ArrayList<>());
  }

  /** Returns the processed bytes in the received heartbeats of an attempt. */
  public synchronized List<Long> bytesOf(String attempt) {
    return bytes.getOrDefault(attempt, new ArrayList<>());
  }

  /**
   * Returns the number of events that reported the attempt as the last attempt of a failed task.
   */
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
      in.readFully(new byte[Calls.PREFACE_BYTES]);
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
    final Fields batch = new Fields(request);
    final List<Fields> received = batch.messages(7);
    synchronized (this) {
      dropped = batch.has(6) ? batch.value(6) : dropped;
      events += received.size();
      for (Fields event : received) {
        closed |= event.has(JOB_CLOSED);
        if (event.has(ATTEMPT_CHANGED)) {
          takeAttempt(event.message(ATTEMPT_CHANGED));
        }
        if (event.has(TASK_HEARTBEAT)) {
          final Fields heartbeat = event.message(TASK_HEARTBEAT);
          bytes
              .computeIfAbsent(nameOf(heartbeat.message(1)), none -> new ArrayList<>())
              .add(heartbeat.value(2));
        }
      }
      notifyAll();
    }
    acknowledge(batch.value(4) + received.size() - 1);
  }

  private void acknowledge(long sequence) {
    try {
      Calls.answer(out, new ProtoWriter().uint(2, sequence));
    } catch (IOException gone) {
      // The next read also reports this error.
    }
  }

  private static String nameOf(Fields id) {
    return (id.value(1) == 0 ? "m_" : "r_") + id.value(3) + "_" + id.value(4);
  }

  private void takeAttempt(Fields changed) {
    final String attempt = nameOf(changed.message(1));
    states
        .computeIfAbsent(attempt, none -> new ArrayList<>())
        .add(Events.State.values()[(int) changed.value(2)]);
    failedTasks.merge(attempt, (int) changed.value(10), Integer::sum);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
