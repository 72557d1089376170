package org.tidemark.jvm.wire;

import java.time.DateTimeException;
import java.time.OffsetDateTime;

/** When a job has to have ended. */
public final class Deadline {
  private Deadline() {}

  /**
   * Milliseconds since 1970 of an instant such as 2026-11-26T07:30:00Z; 0: nothing is said.
   * IllegalArgumentException: it is none. {@code key}: the setting that says it.
   */
  public static long millis(String key, String text) {
    if (text == null || text.trim().isEmpty()) {
      return 0;
    }
    try {
      return OffsetDateTime.parse(text.trim()).toInstant().toEpochMilli();
    } catch (DateTimeException | ArithmeticException none) {
      throw new IllegalArgumentException(
          key + " is no instant such as 2026-11-26T07:30:00Z: " + text);
    }
  }
}
