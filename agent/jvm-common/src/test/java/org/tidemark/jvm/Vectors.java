package org.tidemark.jvm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;

/** The golden values in tests/vectors/, which the C++ tests also read. */
public final class Vectors {
  private Vectors() {}

  public static JsonNode read(String name) throws IOException {
    final String directory = System.getProperty("tidemark.vectors", "../../tests/vectors");
    return new ObjectMapper().readTree(new File(directory, name));
  }

  public static byte[] bytes(String hex) {
    final byte[] bytes = new byte[hex.length() / 2];
    for (int i = 0; i < bytes.length; ++i) {
      bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
    }
    return bytes;
  }

  public static String hex(byte[] bytes) {
    final StringBuilder text = new StringBuilder();
    for (byte b : bytes) {
      text.append(String.format("%02x", b));
    }
    return text.toString();
  }

  public static long hash(JsonNode hex) {
    return Long.parseUnsignedLong(hex.asText(), 16);
  }
}
