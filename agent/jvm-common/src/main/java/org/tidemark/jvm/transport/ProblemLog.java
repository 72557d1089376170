package org.tidemark.jvm.transport;

import java.util.HashSet;
import java.util.Set;
import org.tidemark.jvm.guard.Log;

/**
 * Logs problems between this process and its master. Each problem is logged once, and the number of
 * lines is limited so that the log stays readable. Thread-safe.
 */
final class ProblemLog {
  private static final int LINES_MAX = 10;
  private static final int CHARS_MAX = 500;

  private final Log log;
  private final String master;
  private final Set<String> logged = new HashSet<>();

  ProblemLog(Log log, Endpoint master) {
    this.log = log;
    this.master = master.authority();
  }

  /**
   * {@code what} completes the sentence "the master ...", for example "cannot be reached: ...".
   * Never throws.
   */
  void report(String what) {
    try {
      // The master's message is untrusted, so it is limited to one line of bounded length.
      final String line =
          what.substring(0, Math.min(what.length(), CHARS_MAX)).replaceAll("\\p{Cntrl}+", " ");
      if (isNew(line)) {
        log.warn("the master at " + master + " " + line + "; the job itself is not affected");
      }
    } catch (RuntimeException | Error withoutLog) {
      // The connector never fails a task.
    }
  }

  private synchronized boolean isNew(String line) {
    return logged.size() < LINES_MAX && logged.add(line);
  }
}
