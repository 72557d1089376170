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
 * Keeps a stream to the master open while events wait. One daemon thread reports on the tasks of
 * this process, connects, sends, backs off and resends unacknowledged events.
 *
 * <p>Thread-safe. Only {@link #flush} blocks. The first call starts the thread and throws if this
 * fails; callers are within the guard.
 */
public final class Sender {
  /** Reports at every flush. */
  public interface Reporter {
    /** Called on the sender's thread. Returns null if there is nothing to report. */
    Event report();
  }

  /**
   * A master is reported after this many flush intervals without a response, but not before the
   * time below.
   */
  private static final int SILENT_FLUSHES = 3;
  private static final long SILENT_NANOS_MIN = 5_000_000_000L;

  private static final long IDLE_NANOS = 3_600_000_000_000L;
  /** The buffer of a process that runs one task, in bytes. */
  public static final long TASK_BUFFER_BYTES_MAX = 1 << 20;

  private final Endpoint master;
  private final String jobId;
  private final MeterSettings settings;
  private final Outbox outbox;
  private final Backoff backoff;
  private final Log log;
  private final ProblemLog problems;
  private final List<Reporter> reporters = new CopyOnWriteArrayList<>();
  private final Guard guard;
  private final Thread thread;

  // Guarded by this.
  private boolean started;
  private boolean woken;
  private boolean stopping;
  private boolean lastAttempt;

  // True after a failed connection attempt, until an attempt succeeds. Waiting for the master is
  // useless meanwhile.
  private volatile boolean unreachable;

  // Owned by the sender's thread.
  private volatile EventStream stream;
  private volatile boolean answered;
  private volatile boolean silent;
  /** Owned by the reading thread. There is only one at a time. */
  private volatile boolean hasResponded;
  private long retryAtNanos;
  private long lastFlushNanos;
  private int nextReporter;

  /**
   * Keeps at most {@code bufferBytesMax} bytes of unacknowledged events. {@code log} receives a
   * line when the master first responds, and a line for each problem that prevents reports.
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
    problems = new ProblemLog(log, master);
    this.settings = settings;
    outbox = new Outbox(source, bufferBytesMax);
    backoff = new Backoff(source.sourceId.hashCode() ^ System.nanoTime());
    this.guard = guard;
    thread = guard.thread("tidemark-sender", this::run);
  }

  public MeterSettings settings() {
    return settings;
  }

  /** Returns false if so many events wait that the caller should hold back other data. */
  public boolean hasRoom() {
    return !outbox.isCongested();
  }

  /** Returns the number of dropped events. */
  public long dropped() {
    return outbox.dropped();
  }

  public void send(Event event) {
    outbox.add(event);
    wake();
  }

  /** Reports at every flush, starting after a full interval. */
  public void startReports(Reporter reporter) {
    reporters.add(reporter);
    wake();
  }

  /** Creates the last report on the caller's thread. */
  public void endReports(Reporter reporter) {
    if (reporters.remove(reporter)) {
      addReport(reporter);
      wake();
    }
  }

  /**
   * Blocks until the master has acknowledged all events so far, for at most {@code budgetNanos}.
   * Does not block if the master cannot be reached. Returns true if the events are acknowledged.
   */
  public boolean flush(long budgetNanos) {
    return flush(budgetNanos, budgetNanos);
  }

  /**
   * Like {@link #flush(long)}, but with another budget if the master has responded on this
   * connection.
   */
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
        problems.report("did not respond before this process ended");
      }
      return settled;
    } catch (InterruptedException taskWasKilled) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Flushes, then ends the thread, even if it is blocked by a master that does not read. */
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

  /** Returns false when the sender stops. */
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
    // Each reporter reports once before any of them reports again, even if little space remains.
    final Object[] asked = reporters.toArray();
    for (int i = 0; i < asked.length && !outbox.isCongested(); ++i) {
      addReport((Reporter) asked[Math.floorMod(nextReporter++, asked.length)]);
    }
  }

  private void addReport(Reporter reporter) {
    try {
      // Any thread may create a report, but measurements must be sent in order.
      synchronized (reporter) {
        final Event event = reporter.report();
        if (event != null) {
          outbox.add(event);
        }
      }
    } catch (RuntimeException notToday) {
      // This report is dropped.
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
        problems.report(whyEnded);
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
      problems.report("cannot be reached: " + Reasons.of(cannotConnect));
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
      final long accepted = Answers.apply(message, outbox, settings, problems::report);
      answered = true;
      silent = false;
      unreachable = false;
      outbox.acknowledge(accepted);
      wake();
      if (!hasResponded) {
        hasResponded = true;
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
        problems.report("has not responded for " + tolerated / 1_000_000_000L + " s");
      }
    }
  }
}
