package org.tidemark.hadoop;

import java.util.function.Consumer;
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

  static final Log LOG = new OnceLog(new Lines(true), new Lines(false));

  /** Each lambda in its stead would take a process longer to link than this class to load. */
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

  /** What keeps this process from reporting. */
  static void warnOf(Throwable trouble) {
    warn("no progress is reported: " + Reasons.of(trouble) + "; the job itself is not affected");
  }
}
