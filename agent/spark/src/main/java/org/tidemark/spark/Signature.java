package org.tidemark.spark;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.tidemark.jvm.profile.KeyHash;

/**
 * Signatures that identify a stage in other runs of its application. The rules equal
 * spark/signature.h, so that live runs and runs read from event logs match.
 */
final class Signature {
  private Signature() {}

  /**
   * Returns the signature of the operator tree of a SQL execution. {@code names} contains the names
   * of the tree's nodes, each followed by its children in parentheses.
   */
  static String ofPlan(String names) {
    return Integer.toHexString(names.hashCode()) + "." + names.length();
  }

  /**
   * Returns the signature of a stage's work. {@code name} is the stage's name (empty in SQL).
   * {@code steps} contains a step for each RDD of the stage, in any order.
   */
  static long ofWork(String name, List<String> steps) {
    final byte[][] sorted = new byte[steps.size()][];
    int length = 0;
    for (int i = 0; i < sorted.length; ++i) {
      sorted[i] = (steps.get(i) + "\n").getBytes(StandardCharsets.UTF_8);
      length += sorted[i].length;
    }
    Arrays.sort(sorted, Signature::compare);
    final byte[] first = (name + "\n").getBytes(StandardCharsets.UTF_8);
    final byte[] whole = Arrays.copyOf(first, first.length + length);
    int at = first.length;
    for (byte[] step : sorted) {
      System.arraycopy(step, 0, whole, at, step.length);
      at += step.length;
    }
    return KeyHash.of(whole, 0, whole.length);
  }

  /**
   * Returns the signature of stages of one application that do the same work on different data.
   * {@code plan} is the plan of their SQL execution, or empty.
   */
  static long repeated(String plan, long work) {
    if (plan.isEmpty()) {
      return work;
    }
    final byte[] text = String.format("%s %016x", plan, work).getBytes(StandardCharsets.UTF_8);
    return KeyHash.of(text, 0, text.length);
  }

  /**
   * Returns the signature of the {@code occurrence}-th stage (from 1) that performs {@code work}
   * for the SQL execution or job that {@code group} describes.
   */
  static String of(String group, long work, int occurrence) {
    final byte[] text = group.getBytes(StandardCharsets.UTF_8);
    return String.format(
        "%016x-%016x-%d", KeyHash.of(text, 0, text.length), work, occurrence);
  }

  /**
   * Compares strings by their UTF-8 bytes, like C++. Java's own order compares UTF-16 code units.
   */
  private static int compare(byte[] a, byte[] b) {
    final int common = Math.min(a.length, b.length);
    for (int i = 0; i < common; ++i) {
      if (a[i] != b[i]) {
        return Integer.compare(a[i] & 0xFF, b[i] & 0xFF);
      }
    }
    return Integer.compare(a.length, b.length);
  }
}
