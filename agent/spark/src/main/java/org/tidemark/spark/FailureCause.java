package org.tidemark.spark;

/**
 * Extracts why a task, a stage or a job failed from Spark's message, most of which is stack traces.
 * Applies the same rules as spark/failure_cause.cc does to event logs.
 */
final class FailureCause {
  private static final String TRACEBACK = "Traceback (most recent call last):";
  // "most recent failure: Lost task 0.3 in stage 1.0 (TID 7) (10.0.0.1 executor 2): CAUSE"
  private static final String LAST_FAILURE = "most recent failure: Lost task ";
  private static final String BEFORE_CAUSE = "): ";

  private FailureCause() {}

  /**
   * Returns the last line of the last Python traceback ("ValueError: bad"). If there is no
   * traceback, returns the most recent failure of a task without its location and stack trace, or
   * else all of {@code failure}.
   */
  static String of(String failure) {
    final int traceback = failure.lastIndexOf(TRACEBACK);
    if (traceback >= 0) {
      final String raised = raisedIn(failure, traceback);
      if (!raised.isEmpty()) {
        return raised;
      }
    }
    final int last = failure.indexOf(LAST_FAILURE);
    final int before = last < 0 ? -1 : failure.indexOf(BEFORE_CAUSE, last);
    if (before < 0) {
      return failure;
    }
    final String cause = lineAt(failure, before + BEFORE_CAUSE.length());
    return cause.isEmpty() ? failure : cause;
  }

  /**
   * Returns the first line of a traceback that is not indented, or an empty string if the traceback
   * is incomplete.
   */
  private static String raisedIn(String text, int traceback) {
    for (int end = text.indexOf('\n', traceback); end >= 0; end = text.indexOf('\n', end + 1)) {
      final String line = lineAt(text, end + 1);
      if (!line.trim().isEmpty() && line.charAt(0) != ' ' && line.charAt(0) != '\t') {
        return line;
      }
    }
    return "";
  }

  private static String lineAt(String text, int from) {
    final int end = text.indexOf('\n', from);
    final String line = end < 0 ? text.substring(from) : text.substring(from, end);
    return line.endsWith("\r") ? line.substring(0, line.length() - 1) : line;
  }
}
