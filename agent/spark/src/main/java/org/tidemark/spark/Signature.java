package org.tidemark.spark;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.tidemark.jvm.profile.KeyHash;

/**
 * By what a stage is recognised in another run of its application: the rules of spark/signature.h,
 * so that a run seen by the connector and one read from an event log know each other.
 */
final class Signature {
  private Signature() {}

  /** Of the tree of operators of a SQL execution: its nodes' names, each with its children in (). */
  static String ofPlan(String names) {
    return Integer.toHexString(names.hashCode()) + "." + names.length();
  }

  /**
   * Of what a stage does: its name (empty in SQL), and a step for each of its RDDs, listed in any
   * order.
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
   * The same for stages of one application that do the same to other data; {@code plan}: of their
   * SQL execution, empty: they are of none.
   */
  static long repeated(String plan, long work) {
    if (plan.isEmpty()) {
      return work;
    }
    final byte[] text = String.format("%s %016x", plan, work).getBytes(StandardCharsets.UTF_8);
    return KeyHash.of(text, 0, text.length);
  }

  /**
   * Of the {@code occurrence}-th stage, from 1, that does {@code work} for the SQL execution or job
   * that {@code group} describes.
   */
  static String of(String group, long work, int occurrence) {
    final byte[] text = group.getBytes(StandardCharsets.UTF_8);
    return String.format(
        "%016x-%016x-%d", KeyHash.of(text, 0, text.length), work, occurrence);
  }

  /** As C++ orders texts: by their bytes. Java's own order is that of UTF-16. */
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
