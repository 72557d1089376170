package org.tidemark.jvm.guard;

/** Receives the connector's log messages. May be slow; throws only Errors. */
@FunctionalInterface
public interface Log {
  /** Logs a problem that prevents progress reports. */
  void warn(String what);

  /** Logs that progress is reported. */
  default void info(String what) {}
}
