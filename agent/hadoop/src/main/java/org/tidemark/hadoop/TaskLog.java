package org.tidemark.hadoop;

import org.slf4j.LoggerFactory;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.guard.OnceLog;
import org.tidemark.jvm.guard.Reasons;

/**
 * The log of the task or application master that we are in, which says whether a job reports, and
 * if not, why. Each line once in a process, as the tasks of local mode share one.
 */
final class TaskLog {
  private static final String NAME = "org.tidemark.hadoop";

  static final Log LOG =
      new OnceLog(
          what -> LoggerFactory.getLogger(NAME).warn("Tidemark: {}", what),
          what -> LoggerFactory.getLogger(NAME).info("Tidemark: {}", what));

  private TaskLog() {}

  static void warn(String what) {
    LOG.warn(what);
  }

  /** What keeps this process from reporting. */
  static void warnOf(Throwable trouble) {
    warn("no progress is reported: " + Reasons.of(trouble) + "; the job itself is not affected");
  }
}
