package org.tidemark.jvm.guard;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Keeps exceptions and Errors of the connector away from the process that it runs in. The first
 * exception turns the connector off for this process. The log reports it once, as soon as memory
 * allows. {@link #thread} creates the connector's threads. On a thread of the task, every entry
 * point of the connector has the form
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
 * <p>and not {@code guard.run(() -> ...)}, since linking a lambda allocates memory outside the
 * guard.
 *
 * <p>Expected errors (no connection, no file) are handled where they occur and do not reach the
 * guard. Calls to the class that a plug-in wraps stay outside: their exceptions belong to the task.
 *
 * <p>Thread-safe. Only {@link #thread} throws.
 */
public final class Guard {
  /** The work of a thread of the connector. */
  @FunctionalInterface
  public interface Work {
    void run() throws Exception;
  }

  private final Log log;
  /** Null while the connector is on. */
  private volatile Throwable whyOff;
  /** True if the log contains the reason, or while a thread writes it. */
  private final AtomicBoolean logged = new AtomicBoolean();
  /** The number of attempts to write the log. Belongs to the thread that set {@code logged}. */
  private int calls;

  public Guard(Log log) {
    this.log = log;
  }

  public boolean isOff() {
    if (whyOff == null) {
      return false;
    }
    report();
    return true;
  }

  /**
   * Turns the connector off after it threw {@code ours}. An InterruptedException does not turn the
   * connector off. It means that the task was killed, so the thread is interrupted again.
   */
  public void turnOff(Throwable ours) {
    if (ours instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return;
    }
    if (whyOff == null) {
      whyOff = ours;
    }
    report();
  }

  /**
   * Returns a daemon thread for {@code work} that has not been started and inherits nothing.
   * Creating or starting the thread can throw, as any allocation can, so do both within the guard.
   */
  public Thread thread(String name, Work work) {
    final GuardedWork guarded = new GuardedWork(work);
    return OwnThreads.make(name, guarded, guarded);
  }

  /** This is a class because a process takes longer to link lambdas than to load a class. */
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

  /**
   * Does not wait for another thread that writes the log. Retries a failing log at growing
   * intervals.
   */
  private void report() {
    if (logged.get() || !logged.compareAndSet(false, true)) {
      return;
    }
    boolean isLogged = false;
    try {
      if (Integer.bitCount(++calls) == 1) {  // the first, second, fourth, eighth ...
        log.warn("progress is no longer reported: " + Reasons.of(whyOff) + placeOf(whyOff)
            + "; the job itself is not affected");
        isLogged = true;
      }
    } catch (Throwable noMemoryToTell) {
      // A later call retries.
    } finally {
      logged.set(isLogged);
    }
  }

  private static String placeOf(Throwable trouble) {
    final StackTraceElement[] trace = trouble.getStackTrace();
    return trace.length == 0 ? "" : " at " + trace[0];
  }
}
