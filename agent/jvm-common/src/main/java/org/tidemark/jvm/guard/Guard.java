package org.tidemark.jvm.guard;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Keeps what the connector throws, Errors included, from the process it runs in: it turns the
 * connector off for this process, and the log says so once, as soon as there is memory for that.
 * Threads of ours are made by {@link #thread}. On a thread of the task's, every entry point of ours
 * reads
 *
 * <pre>
 *   try {
 *     if (!guard.isOff()) {
 *       // ours
 *     }
 *   } catch (Throwable ours) {
 *     guard.turnOff(ours);
 *   }
 * </pre>
 *
 * <p>and not {@code guard.run(() -> ...)}: linking a lambda takes memory, outside of the guard.
 *
 * <p>What is to be expected (no connection, no file) is handled where it happens and does not get
 * here. Calls to the class that a plug-in delegates to stay outside: their exceptions are the
 * task's.
 *
 * <p>Thread-safe. Nothing here throws, but for {@link #thread}.
 */
public final class Guard {
  /** What a thread of ours does. */
  @FunctionalInterface
  public interface Work {
    void run() throws Exception;
  }

  private final Log log;
  /** Null while the connector is on. */
  private volatile Throwable whyOff;
  /** The log has said why it is off, or some thread is writing it. */
  private final AtomicBoolean told = new AtomicBoolean();
  /** How often the log could have been written. Belongs to the thread that set {@code told}. */
  private int calls;

  public Guard(Log log) {
    this.log = log;
  }

  public boolean isOff() {
    if (whyOff == null) {
      return false;
    }
    tell();
    return true;
  }

  /**
   * {@code ours} was thrown by the connector. An InterruptedException does not turn it off: the
   * thread is interrupted again, as it is the task that was killed.
   */
  public void turnOff(Throwable ours) {
    if (ours instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return;
    }
    if (whyOff == null) {
      whyOff = ours;
    }
    tell();
  }

  /**
   * A daemon thread for {@code work}, not started, which inherits nothing. Making and starting it
   * can throw, as any allocation can: do both within the guard.
   */
  public Thread thread(String name, Work work) {
    final GuardedWork guarded = new GuardedWork(work);
    return OwnThreads.make(name, guarded, guarded);
  }

  /** Each lambda in its stead would take a process longer to link than this class to load. */
  private final class GuardedWork implements Runnable, Thread.UncaughtExceptionHandler {
    private final Work work;

    GuardedWork(Work work) {
      this.work = work;
    }

    @Override
    public void run() {
      try {
        work.run();
      } catch (Throwable ours) {
        turnOff(ours);
      }
    }

    @Override
    public void uncaughtException(Thread thread, Throwable thrown) {
      turnOff(thrown);
    }
  }

  /** Waits for no other thread's write to the log, and tries a log that fails ever less often. */
  private void tell() {
    if (told.get() || !told.compareAndSet(false, true)) {
      return;
    }
    boolean isSaid = false;
    try {
      if (Integer.bitCount(++calls) == 1) { // the first, second, fourth, eighth ...
        log.warn("no more progress is reported: " + Reasons.of(whyOff) + placeOf(whyOff)
            + "; the job itself is not affected");
        isSaid = true;
      }
    } catch (Throwable noMemoryToTell) {
      // A later call tries again.
    } finally {
      told.set(isSaid);
    }
  }

  private static String placeOf(Throwable trouble) {
    final StackTraceElement[] trace = trouble.getStackTrace();
    return trace.length == 0 ? "" : " at " + trace[0];
  }
}
