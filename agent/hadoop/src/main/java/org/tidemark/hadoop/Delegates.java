package org.tidemark.hadoop;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ReflectionUtils;

/** Makes the object that a plug-in stands in front of. */
final class Delegates {
  private Delegates() {}

  /** An instance of the class that {@code key} names, or of the usual one. */
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
