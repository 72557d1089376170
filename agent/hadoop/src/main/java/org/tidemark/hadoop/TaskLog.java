package org.tidemark.hadoop;

import java.util.HashSet;
import java.util.Set;
import org.slf4j.LoggerFactory;
import org.tidemark.hadoop.transport.Reasons;

/**
 * The log of the task or application master that we are in: the place where to read why a job does
 * not report. Each line once in a process, as the tasks of local mode share one. Never throws.
 */
final class TaskLog {
  private static final Set<String> TOLD = new HashSet<>();

  private TaskLog() {}

  static void warn(String what) {
    try {
      synchronized (TOLD) {
        if (!TOLD.add(what)) {
          return;
        }
      }
      LoggerFactory.getLogger("org.tidemark.hadoop").warn("Tidemark: {}", what);
    } catch (RuntimeException | LinkageError withoutLog) {
      // Nothing of ours ever fails a task.
    }
  }

  /** What keeps this process from reporting. */
  static void warnOf(Throwable trouble) {
    warn("no progress is reported: " + Reasons.of(trouble) + "; the job itself is not affected");
  }
}
