package org.tidemark.spark;

/** What a reader sees of a SQL execution or a job, whose description may be a whole query or stack. */
final class GroupName {
  private GroupName() {}

  /**
   * The first line of {@code description} with words in it; if it has none or is null, that of {@code
   * callSite}; if that has none, empty.
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
