package org.tidemark.jvm.wire;

import java.time.DateTimeException;
import java.time.OffsetDateTime;

public final class Deadline {
  private Deadline() {}

  /**
   * Returns milliseconds since 1970 for a time such as 2026-11-26T07:30:00Z, or 0 for an empty
   * string. Throws IllegalArgumentException for other strings. The message contains {@code key},
   * the name of the setting.
   */
  public static long millis(String key, String text) {
    if (text == null || text.trim().isEmpty()) {
      return 0;
    }
    try {
      return OffsetDateTime.parse(text.trim()).toInstant().toEpochMilli();
    } catch (DateTimeException | ArithmeticException none) {
      throw new IllegalArgumentException(
          key + " is not a time such as 2026-11-26T07:30:00Z: " + text);
    }
  }
}
