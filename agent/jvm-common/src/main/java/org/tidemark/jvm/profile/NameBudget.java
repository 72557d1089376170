package org.tidemark.jvm.profile;

/**
 * How many keys the profiles of a task may name, so that they stay a small part of what the job
 * shuffles. The names of a map task take about a two-hundredth of its output, two thirds of them the
 * heaviest keys and one third the sample. However small the output, a few hundred are named, without
 * which nobody could tell a skewed job from a balanced one. Those of a reduce task take about a
 * three-hundredth of what it has reduced.
 *
 * <p>Immutable.
 */
public final class NameBudget {
  /** As in agent/map_recorder.cc: so many tell the sizes of all to a few percent. */
  public static final int SAMPLED_KEYS_MAX = 512;

  public static final int SAMPLED_KEYS_MIN = 128;
  static final int EXPLICIT_KEYS_MIN = 256;

  /** A hash of 8 bytes, a size and a number of values. */
  private static final long NAME_BYTES = 12;

  private static final long OUTPUT_BYTES_PER_NAME = 200 * NAME_BYTES;

  /** A hash of 8 bytes, a size, a time and what was emitted. */
  private static final long FINISHED_NAME_BYTES = 16;

  private static final long REDUCED_BYTES_PER_NAME = 300 * FINISHED_NAME_BYTES;
  private static final int FINISHED_NAMES_MIN = 128;

  public final int explicitKeys;
  public final int sampledKeys;

  /** {@code outputBytes} as they are shuffled, compressed if they are; {@code lambda} at most. */
  public NameBudget(long outputBytes, int lambda) {
    final long names = Math.max(outputBytes, 0) / OUTPUT_BYTES_PER_NAME;
    explicitKeys = (int) Math.min(Math.max(names - names / 3, EXPLICIT_KEYS_MIN), lambda);
    sampledKeys = (int) Math.min(Math.max(names / 3, SAMPLED_KEYS_MIN), SAMPLED_KEYS_MAX);
  }

  /** How many a reduce task may name until it has reduced so many bytes. */
  public static int finishedNames(long reducedBytes) {
    final long paid = Math.max(reducedBytes, 0) / REDUCED_BYTES_PER_NAME;
    return (int) Math.min(Math.max(paid, FINISHED_NAMES_MIN), Integer.MAX_VALUE);
  }
}
