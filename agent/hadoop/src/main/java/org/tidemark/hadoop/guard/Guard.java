package org.tidemark.hadoop.guard;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Stands between the connector and the process it is in. Whatever code of ours throws, an Error
 * too, ends here and turns the connector off for this process; it is said once, as soon as there is
 * memory to say it. Threads of ours are made by {@link #thread}. On a thread of the task's, every
 * entry point of ours reads
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
 * <p>and not {@code guard.run(() -> ...)}: to link a lambda takes memory, outside of the guard.
 *
 * <p>What was to be expected (no connection, no file) is handled where it happens and does not come
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
  /** Why it is off was said, or somebody is saying it. */
  private final AtomicBoolean told = new AtomicBoolean();
  /** Of those who may say it. Belongs to whoever set {@code told}. */
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

  /** {@code ours} was thrown by the connector. That a thread was interrupted is no reason. */
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
   * A daemon thread for {@code work}, not started, which inherits nothing. To make it and to start
   * it can throw, as any allocation can: both belong within the guard.
   */
  public Thread thread(String name, Work work) {
    return OwnThreads.make(name, () -> runGuarded(work), (thread, thrown) -> turnOff(thrown));
  }

  private void runGuarded(Work work) {
    try {
      work.run();
    } catch (Throwable ours) {
      turnOff(ours);
    }
  }

  /** No thread waits for another that is in the log, and a log that fails is tried ever less often. */
  private void tell() {
    if (told.get() || !told.compareAndSet(false, true)) {
      return;
    }
    boolean isSaid = false;
    try {
      if (Integer.bitCount(++calls) == 1) { // the first, second, fourth, eighth ...
        log.warn(
            "no more progress is reported: "
                + Reasons.of(whyOff)
                + placeOf(whyOff)
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
