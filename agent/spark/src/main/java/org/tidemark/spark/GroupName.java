package org.tidemark.spark;

/**
 * The name of a SQL execution or a job for people. Its description may be a whole query or stack.
 */
final class GroupName {
  private GroupName() {}

  /**
   * Returns the first line of {@code description} with words in it. If no line has words, returns
   * that line of {@code callSite}, or an empty string.
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
