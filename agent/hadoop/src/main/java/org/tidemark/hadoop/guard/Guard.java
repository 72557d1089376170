package org.tidemark.hadoop.guard;

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
  /** Guarded by this. */
  private boolean told;

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

  private synchronized void tell() {
    if (told) {
      return;
    }
    try {
      log.warn(
          "no more progress is reported: "
              + Reasons.of(whyOff)
              + placeOf(whyOff)
              + "; the job itself is not affected");
      told = true;
    } catch (Throwable noMemoryToTell) {
      // The next call tries again.
    }
  }

  private static String placeOf(Throwable trouble) {
    final StackTraceElement[] trace = trouble.getStackTrace();
    return trace.length == 0 ? "" : " at " + trace[0];
  }
}
