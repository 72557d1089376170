package org.tidemark.jvm.profile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * How a thread shares its host's processors, as the operating system counts it. Linux alone tells;
 * elsewhere, and where the kernel does not count, nothing is known. Nothing here throws.
 *
 * <p>Not thread-safe, but any thread may look.
 */
public final class ProcessorWatch {
  private static final long UNKNOWN = -1;

  private final long startNanos;
  private final long waitBefore;
  private final int processors;
  /** Null: nothing to look at. */
  private Path schedstat;

  private ProcessorWatch(Path schedstat, long nowNanos) {
    this.schedstat = schedstat;
    startNanos = nowNanos;
    waitBefore = readWait();
    processors = Runtime.getRuntime().availableProcessors();
  }

  /** The first look, at the thread that calls. */
  public static ProcessorWatch ofThisThread(long nowNanos) {
    return new ProcessorWatch(fileOfThisThread(), nowNanos);
  }

  /** Since the first look; null when no time has passed, and for good once the thread has ended. */
  public Use read(long nowNanos) {
    final long watched = nowNanos - startNanos;
    if (watched <= 0) {
      return null;
    }
    final long wait = readWait();
    if (wait == UNKNOWN) {
      return null;
    }
    // Its clock is not quite ours.
    final long waited = Math.max(0, Math.min(wait - waitBefore, watched));
    return new Use(watched, waited, processors);
  }

  /** What the thread has waited since it began; below zero: not known. */
  public long waitedNanosSinceItBegan() {
    return readWait();
  }

  /**
   * How long a thread could have run but had no processor, by the text of its schedstat file (Linux:
   * Documentation/scheduler/sched-stats.rst); below zero: not known, or no such text.
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
      // A kernel that does not count says zeros of every thread, and who asks has run.
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
    } catch (IOException | RuntimeException notTold) {
      return null;
    }
  }

  /** What failed once is not tried again. */
  private long readWait() {
    long wait = UNKNOWN;
    if (schedstat != null) {
      try {
        wait = parseWait(new String(Files.readAllBytes(schedstat), StandardCharsets.US_ASCII));
      } catch (IOException | RuntimeException notTold) {
        wait = UNKNOWN;
      }
    }
    if (wait == UNKNOWN) {
      schedstat = null;
    }
    return wait;
  }

  /** What a watch has seen. */
  public static final class Use {
    public final long watchedNanos;
    /** Of that: the thread could have run but had no processor. */
    public final long waitedNanos;
    /** That the process may use. */
    public final int processors;

    public Use(long watchedNanos, long waitedNanos, int processors) {
      this.watchedNanos = watchedNanos;
      this.waitedNanos = waitedNanos;
      this.processors = processors;
    }
  }
}
