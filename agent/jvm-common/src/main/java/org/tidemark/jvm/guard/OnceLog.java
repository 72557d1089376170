package org.tidemark.jvm.guard;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Passes each line on once, and a hundred lines at most: a log must stay readable, even if the
 * reasons are new each time. Throws nothing but the Errors of a process that is short of something.
 * Thread-safe.
 */
public final class OnceLog implements Log {
  private static final int LINES_MAX = 100;

  private final Consumer<String> warnings;
  private final Consumer<String> news;
  private final Set<String> told = new HashSet<>();

  public OnceLog(Consumer<String> warnings, Consumer<String> news) {
    this.warnings = warnings;
    this.news = news;
  }

  @Override
  public void warn(String what) {
    once(what, warnings);
  }

  @Override
  public void info(String what) {
    once(what, news);
  }

  private synchronized void once(String what, Consumer<String> say) {
    try {
      if (told.size() < LINES_MAX && !told.contains(what)) {
        say.accept(what);
        told.add(what);
      }
    } catch (RuntimeException | LinkageError withoutLog) {
      // Nothing of ours ever fails a task.
    }
  }
}
