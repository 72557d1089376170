package org.tidemark.jvm.guard;

/** Describes an exception in a line of a log. */
public final class Reasons {
  private Reasons() {}

  /** Returns the class and message of the exception, or of its cause if it has one. */
  public static String of(Throwable trouble) {
    final Throwable cause = trouble.getCause() == null ? trouble : trouble.getCause();
    final String kind = cause.getClass().getSimpleName();
    return cause.getMessage() == null ? kind : kind + ": " + cause.getMessage();
  }
}
