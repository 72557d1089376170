package org.tidemark.jvm.profile;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** Measures how long this process has collected garbage. */
public final class CollectionTime {
  private CollectionTime() {}

  /**
   * Returns the time for which all threads were stopped, or nearly. Concurrent collectors add
   * nothing.
   */
  public static long millis() {
    long millis = 0;
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      final String name = collector.getName();
      if (!name.contains("Concurrent") && !name.contains("Cycles")) {
        millis += Math.max(0, collector.getCollectionTime());
      }
    }
    return millis;
  }
}
