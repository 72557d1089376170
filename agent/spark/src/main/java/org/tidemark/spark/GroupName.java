package org.tidemark.spark;

/**
 * The display name of an SQL execution or a job. Its description may be a whole query or stack
 * trace.
 */
final class GroupName {
  private GroupName() {}

  /**
   * Returns the first line of {@code description} that contains a word, or else such a line of
   * {@code callSite}, or else an empty string.
   */
  static String of(String description, String callSite) {
    final String line = firstLine(description);
    return line.isEmpty() ? firstLine(callSite) : line;
  }

  private static String firstLine(String text) {
    if (text != null) {
      for (String line : text.split("[\r\n]")) {
        if (!line.trim().isEmpty()) {
          return line.trim();
        }
      }
    }
    return "";
  }
}
