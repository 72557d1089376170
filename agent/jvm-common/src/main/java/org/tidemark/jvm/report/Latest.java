package org.tidemark.jvm.report;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A map that drops its oldest entries, since an application may run for months. Not thread-safe.
 */
public final class Latest<K, V> extends LinkedHashMap<K, V> {
  private static final int ENTRIES_MAX = 10_000;

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > ENTRIES_MAX;
  }
}
