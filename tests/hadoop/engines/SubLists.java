package org.apache.hadoop.hive.ql.exec;

import java.util.ArrayList;
import java.util.List;
import org.apache.hive.com.esotericsoftware.kryo.Kryo;
import org.apache.hive.com.esotericsoftware.kryo.Serializer;
import org.apache.hive.com.esotericsoftware.kryo.io.Input;
import org.apache.hive.com.esotericsoftware.kryo.io.Output;

/**
 * Replaces a class of Hive 3.1 that reads private fields of Java 8, so that the tests can run Hive on
 * newer versions of Java. Writes a part of a list as a list.
 */
class SerializationUtilities$ArrayListSubListSerializer extends Serializer<List<?>> {
  public SerializationUtilities$ArrayListSubListSerializer() {}

  @Override
  public void write(Kryo kryo, Output output, List<?> list) {
    output.writeInt(list.size(), true);
    for (Object each : list) {
      kryo.writeClassAndObject(output, each);
    }
  }

  @Override
  public List<?> read(Kryo kryo, Input input, Class<List<?>> type) {
    final List<Object> list = new ArrayList<>();
    kryo.reference(list);
    for (int left = input.readInt(true); left > 0; --left) {
      list.add(kryo.readClassAndObject(input));
    }
    return list;
  }

  @Override
  public List<?> copy(Kryo kryo, List<?> list) {
    final List<Object> copy = new ArrayList<>();
    kryo.reference(copy);
    for (Object each : list) {
      copy.add(kryo.copy(each));
    }
    return copy;
  }
}
