package org.tidemark.jvm.guard;

/** Receives the connector's messages for people. May be slow; throws only Errors. */
@FunctionalInterface
public interface Log {
  /** Reports a problem that prevents reports of progress. */
  void warn(String what);

  /** Reports that progress is reported. */
  default void info(String what) {}
}
