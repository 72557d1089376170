package org.tidemark.hadoop;

import java.util.function.Consumer;
import org.slf4j.LoggerFactory;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.guard.OnceLog;
import org.tidemark.jvm.guard.Reasons;

/**
 * The log of this task or application master. It shows whether a job reports, and why it does not.
 * Each line appears once per process, since the tasks of local mode share a process.
 */
final class TaskLog {
  private static final String NAME = "org.tidemark.hadoop";

  static final Log LOG = new OnceLog(new Lines(true), new Lines(false));

  /** This is a class because a process takes longer to link lambdas than to load a class. */
  private static final class Lines implements Consumer<String> {
    private final boolean warn;

    Lines(boolean warn) {
      this.warn = warn;
    }

    @Override
    public void accept(String what) {
      if (warn) {
        LoggerFactory.getLogger(NAME).warn("Tidemark: {}", what);
      } else {
        LoggerFactory.getLogger(NAME).info("Tidemark: {}", what);
      }
    }
  }

  private TaskLog() {}

  static void warn(String what) {
    LOG.warn(what);
  }

  /** Logs why this process cannot report. */
  static void warnOf(Throwable trouble) {
    warn("cannot report progress: " + Reasons.of(trouble) + "; the job itself is not affected");
  }
}
