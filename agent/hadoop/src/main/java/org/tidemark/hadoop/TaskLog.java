package org.tidemark.hadoop;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tidemark.hadoop.guard.Log;
import org.tidemark.hadoop.guard.Reasons;

/**
 * The log of the task or application master that we are in, which says whether a job reports, and
 * if not, why. Each line once in a process, as the tasks of local mode share one, and a hundred
 * lines at most.
 * Throws nothing but the Errors of a process that is short of something.
 */
final class TaskLog {
  static final Log LOG =
      new Log() {
        @Override
        public void warn(String what) {
          TaskLog.warn(what);
        }

        @Override
        public void info(String what) {
          once(what, log -> log.info("Tidemark: {}", what));
        }
      };

  /** The log must stay readable, even if the reasons are new each time. */
  private static final int LINES_MAX = 100;

  private static final Set<String> TOLD = new HashSet<>();

  private TaskLog() {}

  static void warn(String what) {
    once(what, log -> log.warn("Tidemark: {}", what));
  }

  /** What keeps this process from reporting. */
  static void warnOf(Throwable trouble) {
    warn("no progress is reported: " + Reasons.of(trouble) + "; the job itself is not affected");
  }

  private static void once(String what, Consumer<Logger> say) {
    try {
      synchronized (TOLD) {
        if (TOLD.size() < LINES_MAX && !TOLD.contains(what)) {
          say.accept(LoggerFactory.getLogger("org.tidemark.hadoop"));
          TOLD.add(what);
        }
      }
    } catch (RuntimeException | LinkageError withoutLog) {
      // Nothing of ours ever fails a task.
    }
  }
}
