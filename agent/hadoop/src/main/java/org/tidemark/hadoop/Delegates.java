package org.tidemark.hadoop;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ReflectionUtils;

/** Creates the object that a plug-in wraps. */
final class Delegates {
  private Delegates() {}

  /** Returns an instance of the class in the setting {@code key}, or of the default class. */
  @SuppressWarnings("unchecked")
  static <T> T create(Configuration conf, String key, String usual) throws IOException {
    final String name = conf.getTrimmed(key, usual);
    try {
      return (T) ReflectionUtils.newInstance(conf.getClassByName(name), conf);
    } catch (ClassNotFoundException | RuntimeException | LinkageError e) {
      throw new IOException("tidemark: cannot create a " + name + " for " + key, e);
    }
  }
}
