package org.tidemark.jvm.transport;

import java.util.HashSet;
import java.util.Set;
import org.tidemark.jvm.guard.Log;

/**
 * What is wrong between this process and its master, each thing told once, and so many of them at
 * most that a log stays readable. Thread-safe.
 */
final class Complaints {
  private static final int TOLD_MAX = 10;
  private static final int CHARS_MAX = 500;

  private final Log log;
  private final String master;
  private final Set<String> told = new HashSet<>();

  Complaints(Log log, Endpoint master) {
    this.log = log;
    this.master = master.authority();
  }

  /** {@code what} the master does: "cannot be reached: ...". Never throws. */
  void tell(String what) {
    try {
      // A master's words come from outside: one line, and no long one.
      final String line =
          what.substring(0, Math.min(what.length(), CHARS_MAX)).replaceAll("\\p{Cntrl}+", " ");
      if (isNew(line)) {
        log.warn("the master at " + master + " " + line + "; the job itself is not affected");
      }
    } catch (RuntimeException | Error withoutLog) {
      // Nothing of ours ever fails a task.
    }
  }

  private synchronized boolean isNew(String line) {
    return told.size() < TOLD_MAX && told.add(line);
  }
}
