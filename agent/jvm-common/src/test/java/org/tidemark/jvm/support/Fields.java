package org.tidemark.jvm.support;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.tidemark.jvm.wire.ProtoReader;

/** The fields of a protocol buffer message by number. An absent field is 0 or empty. */
public final class Fields {
  private final Map<Integer, Long> values = new HashMap<>();
  private final Map<Integer, List<byte[]>> contents = new HashMap<>();

  public Fields(byte[] message) {
    for (ProtoReader reader = new ProtoReader(message); reader.next(); ) {
      values.put(reader.field(), reader.value());
      contents.computeIfAbsent(reader.field(), none -> new ArrayList<>()).add(reader.content());
    }
  }

  public Set<Integer> numbers() {
    return values.keySet();
  }

  public boolean has(int field) {
    return values.containsKey(field);
  }

  public long value(int field) {
    return values.getOrDefault(field, 0L);
  }

  /** Returns the last content of a repeated field. */
  public byte[] content(int field) {
    return has(field) ? contents.get(field).get(contents.get(field).size() - 1) : new byte[0];
  }

  public String text(int field) {
    return new String(content(field), StandardCharsets.UTF_8);
  }

  public Fields message(int field) {
    return new Fields(content(field));
  }

  public List<Fields> messages(int field) {
    return contents.getOrDefault(field, List.of()).stream()
        .map(Fields::new)
        .collect(Collectors.toList());
  }

  /** Returns the numbers of a packed field of varints. */
  public long[] varints(int field) {
    final LongStream.Builder numbers = LongStream.builder();
    long number = 0;
    int shift = 0;
    for (byte part : content(field)) {
      number |= (long) (part & 0x7F) << shift;
      shift += 7;
      if (part >= 0) {
        numbers.add(number);
        number = 0;
        shift = 0;
      }
    }
    return numbers.build().toArray();
  }

  /** Returns the numbers of a packed field of 64 bits each. */
  public long[] fixed64s(int field) {
    final ByteBuffer packed = ByteBuffer.wrap(content(field)).order(ByteOrder.LITTLE_ENDIAN);
    final long[] numbers = new long[packed.remaining() / Long.BYTES];
    packed.asLongBuffer().get(numbers);
    return numbers;
  }
}
