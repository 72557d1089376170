package org.tidemark.jvm.profile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * Measures a thread's use of the host's processors from the operating system's counters. Values are
 * unknown on systems other than Linux, and on kernels that do not count. Never throws.
 *
 * <p>Not thread-safe, but any thread may call it.
 */
public final class ProcessorWatch {
  private static final long UNKNOWN = -1;

  private final long startNanos;
  private final long waitBefore;
  private final int processors;
  /** Null if there is no file. */
  private Path schedstat;

  private ProcessorWatch(Path schedstat, long nowNanos) {
    this.schedstat = schedstat;
    startNanos = nowNanos;
    waitBefore = readWait();
    processors = Runtime.getRuntime().availableProcessors();
  }

  /** Takes the first sample of the calling thread. */
  public static ProcessorWatch ofThisThread(long nowNanos) {
    return new ProcessorWatch(fileOfThisThread(), nowNanos);
  }

  /**
   * Returns the use since the first sample, or null if no time has passed or the thread has ended.
   */
  public Use read(long nowNanos) {
    final long watched = nowNanos - startNanos;
    if (watched <= 0) {
      return null;
    }
    final long wait = readWait();
    if (wait == UNKNOWN) {
      return null;
    }
    // The clocks of the kernel and of the caller differ slightly.
    final long waited = Math.max(0, Math.min(wait - waitBefore, watched));
    return new Use(watched, waited, processors);
  }

  /**
   * Returns the time that the thread has waited since its start, or a negative number if unknown.
   */
  public long waitedNanosSinceItBegan() {
    return readWait();
  }

  /**
   * Parses a thread's schedstat file (Linux: Documentation/scheduler/sched-stats.rst). Returns how
   * long the thread was runnable without a processor, or a negative number for an invalid text.
   */
  static long parseWait(String schedstat) {
    final String[] numbers = schedstat.trim().split(" ");
    if (numbers.length < 3) {
      return UNKNOWN;
    }
    try {
      final long ran = Long.parseLong(numbers[0]);
      final long waited = Long.parseLong(numbers[1]);
      final long timesRun = Long.parseLong(numbers[2]);
      // A kernel that does not count shows only zeros, although the calling thread has run.
      final boolean isCounted = ran > 0 || timesRun > 0;
      return isCounted && ran >= 0 && waited >= 0 && timesRun >= 0 ? waited : UNKNOWN;
    } catch (NumberFormatException notSuchAText) {
      return UNKNOWN;
    }
  }

  private static Path fileOfThisThread() {
    try {
      final Path proc = Paths.get("/proc");
      return proc.resolve(Files.readSymbolicLink(proc.resolve("thread-self")))
          .resolve("schedstat");
    } catch (IOException | RuntimeException unavailable) {
      return null;
    }
  }

  /** Returns the wait, or a negative number. A failed read is not repeated. */
  private long readWait() {
    long wait = UNKNOWN;
    if (schedstat != null) {
      try {
        wait = parseWait(new String(Files.readAllBytes(schedstat), StandardCharsets.US_ASCII));
      } catch (IOException | RuntimeException unavailable) {
        wait = UNKNOWN;
      }
    }
    if (wait == UNKNOWN) {
      schedstat = null;
    }
    return wait;
  }

  public static final class Use {
    public final long watchedNanos;
    /** The time in which the thread was runnable without a processor. */
    public final long waitedNanos;
    /** The processors that the process may use. */
    public final int processors;

    public Use(long watchedNanos, long waitedNanos, int processors) {
      this.watchedNanos = watchedNanos;
      this.waitedNanos = waitedNanos;
      this.processors = processors;
    }
  }
}
