package org.tidemark.spark;

import java.nio.charset.StandardCharsets;
import org.tidemark.jvm.profile.KeyHash;
import scala.Tuple2;

/**
 * 64-bit names of keys, equal in every process. Strings, numbers, and pairs of these have names.
 * Keys of other classes have none, since equal keys may be serialized differently.
 */
final class KeyNames {
  private KeyNames() {}

  static boolean has(Object key) {
    if (key instanceof Tuple2) {
      return has(((Tuple2<?, ?>) key)._1()) && has(((Tuple2<?, ?>) key)._2());
    }
    return key instanceof String
        || key instanceof Integer
        || key instanceof Long
        || key instanceof Double
        || key instanceof Short
        || key instanceof Byte
        || key instanceof Character
        || key instanceof Boolean;
  }

  /** Returns the name of a key that has one. */
  static long of(Object key) {
    if (key instanceof String) {
      final byte[] text = ((String) key).getBytes(StandardCharsets.UTF_8);
      return KeyHash.of(text, 0, text.length);
    }
    if (key instanceof Tuple2) {
      final Tuple2<?, ?> pair = (Tuple2<?, ?>) key;
      return ofNumber(31 * of(pair._1()) + of(pair._2()));
    }
    if (key instanceof Double) {
      return ofNumber(Double.doubleToLongBits((Double) key));
    }
    if (key instanceof Character) {
      return ofNumber((Character) key);
    }
    return ofNumber(key instanceof Boolean ? (Boolean) key ? 1 : 0 : ((Number) key).longValue());
  }

  private static long ofNumber(long number) {
    final byte[] bytes = new byte[Long.BYTES];
    for (int i = 0; i < bytes.length; ++i) {
      bytes[i] = (byte) (number >>> (8 * i));
    }
    return KeyHash.of(bytes, 0, bytes.length);
  }
}
