package org.tidemark.jvm.guard;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Passes each distinct line on once, and at most a hundred lines, so that the log stays readable
 * even if every reason differs. Throws only the Errors of a process that lacks a resource.
 * Thread-safe.
 */
public final class OnceLog implements Log {
  private static final int LINES_MAX = 100;

  private final Consumer<String> warnings;
  private final Consumer<String> notices;
  private final Set<String> logged = new HashSet<>();

  public OnceLog(Consumer<String> warnings, Consumer<String> notices) {
    this.warnings = warnings;
    this.notices = notices;
  }

  @Override
  public void warn(String what) {
    once(what, warnings);
  }

  @Override
  public void info(String what) {
    once(what, notices);
  }

  private synchronized void once(String what, Consumer<String> sink) {
    try {
      if (logged.size() < LINES_MAX && !logged.contains(what)) {
        sink.accept(what);
        logged.add(what);
      }
    } catch (RuntimeException | LinkageError withoutLog) {
      // The connector never fails a task.
    }
  }
}
