package org.tidemark.jvm.guard;

/** What to tell of an exception in a line of a log. */
public final class Reasons {
  private Reasons() {}

  /** Its kind and message; those of its cause, if there is one, as they say more. */
  public static String of(Throwable trouble) {
    final Throwable told = trouble.getCause() == null ? trouble : trouble.getCause();
    final String kind = told.getClass().getSimpleName();
    return told.getMessage() == null ? kind : kind + ": " + told.getMessage();
  }
}
