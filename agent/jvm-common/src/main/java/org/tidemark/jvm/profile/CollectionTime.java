package org.tidemark.jvm.profile;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

public final class CollectionTime {
  private CollectionTime() {}

  /**
   * Returns the time for which garbage collection stopped all, or nearly all, threads. Concurrent
   * collectors add nothing.
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
