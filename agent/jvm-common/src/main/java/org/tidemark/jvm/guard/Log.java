package org.tidemark.jvm.guard;

/** Where the connector says what a person should know. May be slow, and throws Errors only. */
@FunctionalInterface
public interface Log {
  /** What keeps progress from being reported. */
  void warn(String what);

  /** That progress is reported. */
  default void info(String what) {}
}
