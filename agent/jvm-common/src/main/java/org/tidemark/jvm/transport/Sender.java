package org.tidemark.jvm.transport;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.guard.Reasons;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.wire.Event;

/**
 * Keeps a stream to the master open while there is something to say: one daemon thread that reports
 * on the tasks of this process, connects, sends, backs off and sends again what was not
 * acknowledged.
 *
 * <p>Thread-safe. Nothing but {@link #flush} waits. The first call starts the thread and throws
 * when there can be none; callers are within the guard.
 */
public final class Sender {
  /** Something to report on at every flush. */
  public interface Reporter {
    /** Called on the sender's thread; null: nothing to say. */
    Event report();
  }

  /** A master that owes an answer for so many flush intervals, and so long, is complained of. */
  private static final int SILENT_FLUSHES = 3;
  private static final long SILENT_NANOS_MIN = 5_000_000_000L;

  private static final long IDLE_NANOS = 3_600_000_000_000L;
  /** What a process that runs one task may keep. bytes */
  public static final long TASK_BUFFER_BYTES_MAX = 1 << 20;

  private final Endpoint master;
  private final String jobId;
  private final MeterSettings settings;
  private final Outbox outbox;
  private final Backoff backoff;
  private final Log log;
  private final Complaints complaints;
  private final List<Reporter> reporters = new CopyOnWriteArrayList<>();
  private final Guard guard;
  private final Thread thread;

  // Guarded by this.
  private boolean started;
  private boolean woken;
  private boolean stopping;
  private boolean lastAttempt;

  // A connection attempt failed and none has worked since: no use in waiting for it.
  private volatile boolean unreachable;

  // The sender's thread's own.
  private volatile EventStream stream;
  private volatile boolean answered;
  private volatile boolean silent;
  /** Belongs to the reading threads, of which there is one at a time. */
  private volatile boolean heard;
  private long retryAtNanos;
  private long lastFlushNanos;
  private int nextReporter;

  /**
   * Keeps at most {@code bufferBytesMax} of what is not acknowledged. {@code log} hears once that
   * the master answers, and once of each thing that keeps reports from it.
   */
  public Sender(
      Endpoint master,
      Source source,
      long bufferBytesMax,
      MeterSettings settings,
      Log log,
      Guard guard) {
    this.master = master;
    jobId = source.jobId;
    this.log = log;
    complaints = new Complaints(log, master);
    this.settings = settings;
    outbox = new Outbox(source, bufferBytesMax);
    backoff = new Backoff(source.sourceId.hashCode() ^ System.nanoTime());
    this.guard = guard;
    thread = guard.thread("tidemark-sender", this::run);
  }

  public MeterSettings settings() {
    return settings;
  }

  /** Whether an event fits without another being dropped. If not, what can wait should. */
  public boolean hasRoom() {
    return !outbox.isCongested();
  }

  /** How many events had to go because there was no room. */
  public long dropped() {
    return outbox.dropped();
  }

  public void send(Event event) {
    outbox.add(event);
    wake();
  }

  /** Reports on it at every flush from now on, the first time after a full interval. */
  public void startReports(Reporter reporter) {
    reporters.add(reporter);
    wake();
  }

  /** Reports a last time, on the caller's thread. */
  public void endReports(Reporter reporter) {
    if (reporters.remove(reporter)) {
      addReport(reporter);
      wake();
    }
  }

  /**
   * Waits until all that was said so far is acknowledged, at most so long, and not at all when the
   * master cannot be reached; whether it is.
   */
  public boolean flush(long budgetNanos) {
    return flush(budgetNanos, budgetNanos);
  }

  /** The same with another budget for a master that has answered on this connection. */
  public boolean flush(long budgetNanos, long budgetOfAnsweringNanos) {
    try {
      synchronized (this) {
        lastAttempt = true;
      }
      wake();
      final long budget = answered && !silent ? budgetOfAnsweringNanos : budgetNanos;
      final long deadline = System.nanoTime() + (unreachable ? 0 : budget);
      final boolean settled = outbox.waitUntilSettled(outbox.newest(), deadline);
      if (!settled && !answered && !unreachable) {
        complaints.tell("did not answer before this process finished");
      }
      return settled;
    } catch (InterruptedException taskWasKilled) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Flushes and ends the thread, even one that waits for a master which does not read. */
  public void stop(long budgetNanos) {
    final boolean settled = flush(budgetNanos);
    synchronized (this) {
      stopping = true;
    }
    wake();
    final EventStream open = stream;
    if (!settled && open != null) {
      open.end();
    }
  }

  private void wake() {
    synchronized (this) {
      if (!started && !stopping) {
        started = true;
        lastFlushNanos = System.nanoTime();
        retryAtNanos = lastFlushNanos;
        thread.start();
      }
      woken = true;
      notifyAll();
    }
  }

  private void run() throws InterruptedException {
    try {
      while (!guard.isOff() && awaitWork()) {
        reportIfDue();
        poll();
      }
    } finally {
      if (stream != null) {
        stream.close();
      }
    }
  }

  /** False: it is over. */
  private synchronized boolean awaitWork() throws InterruptedException {
    final long deadline = nextDeadline();
    while (!woken && !stopping) {
      final long left = deadline - System.nanoTime();
      if (left <= 0) {
        break;
      }
      wait(Math.max(1, left / 1_000_000L));
    }
    woken = false;
    return !stopping;
  }

  private long nextDeadline() {
    long deadline = System.nanoTime() + IDLE_NANOS;
    if (!reporters.isEmpty()) {
      deadline = Math.min(deadline, lastFlushNanos + settings.flushNanos());
    }
    if (stream == null && !outbox.isEmpty()) {
      deadline = Math.min(deadline, retryAtNanos);
    }
    return deadline;
  }

  private void reportIfDue() {
    final long now = System.nanoTime();
    if (reporters.isEmpty() || now - lastFlushNanos < settings.flushNanos()) {
      return;
    }
    lastFlushNanos = now;
    // Each has its turn before any has another, however little room there is.
    final Object[] asked = reporters.toArray();
    for (int i = 0; i < asked.length && !outbox.isCongested(); ++i) {
      addReport((Reporter) asked[Math.floorMod(nextReporter++, asked.length)]);
    }
  }

  private void addReport(Reporter reporter) {
    try {
      // What is measured first is sent first, whichever thread reports.
      synchronized (reporter) {
        final Event event = reporter.report();
        if (event != null) {
          outbox.add(event);
        }
      }
    } catch (RuntimeException notToday) {
      // One report less.
    }
  }

  private void poll() throws InterruptedException {
    if (stream != null && stream.isEnded()) {
      final String whyEnded = stream.whyEnded();
      stream = null;
      unreachable = !answered;
      if (answered) {
        backoff.reset();
      } else {
        complaints.tell(whyEnded);
      }
      retryAtNanos = System.nanoTime() + backoff.next();
    }
    if (stream == null && !outbox.isEmpty() && isTimeToConnect()) {
      connect();
    }
    if (stream != null) {
      pump();
    }
  }

  private synchronized boolean isTimeToConnect() {
    final boolean now = lastAttempt && !unreachable || System.nanoTime() - retryAtNanos >= 0;
    lastAttempt = false;
    return now;
  }

  private void connect() {
    answered = false;
    final EventStream opened =
        new EventStream(new StreamListener(), guard, EventStream.ANSWER_TIMEOUT_NANOS);
    outbox.rewind();
    try {
      opened.open(master, jobId);
      stream = opened;
    } catch (IOException | RuntimeException cannotConnect) {
      unreachable = true;
      complaints.tell("cannot be reached: " + Reasons.of(cannotConnect));
      retryAtNanos = System.nanoTime() + backoff.next();
    } finally {
      if (stream != opened) {
        opened.close();
      }
    }
  }

  private void pump() throws InterruptedException {
    try {
      for (byte[] next = nextMessage(); next != null; next = nextMessage()) {
        stream.write(next);
      }
      stream.flush();
    } catch (IOException connectionLost) {
      stream.close();
      wake();
    }
  }

  private byte[] nextMessage() {
    return outbox.next(System.currentTimeMillis(), System.nanoTime());
  }

  private final class StreamListener implements EventStream.Listener {
    @Override
    public void answered(byte[] message) {
      final long accepted =
          Answers.apply(
              message, outbox, settings, reason -> complaints.tell("refused a report: " + reason));
      answered = true;
      silent = false;
      unreachable = false;
      outbox.acknowledge(accepted);
      wake();
      if (!heard) {
        heard = true;
        log.info("progress is reported to the master at " + master.authority());
      }
    }

    @Override
    public void changed() {
      wake();
    }

    @Override
    public boolean awaitsAnswer() {
      return outbox.hasUnacknowledged();
    }

    @Override
    public void silent(long nanos) {
      final long tolerated =
          Math.max(SILENT_FLUSHES * settings.flushNanos(), SILENT_NANOS_MIN);
      if (nanos >= tolerated) {
        silent = true;
        complaints.tell("has not answered for " + tolerated / 1_000_000_000L + " s");
      }
    }
  }
}
