package org.tidemark.jvm.profile;

/**
 * The number of keys that the profiles of a task may name. It keeps profiles small compared with
 * the shuffle. The names of a map task take about 1/200 of its output: two thirds for the heaviest
 * keys, and one third for the sample. Even a small output has a few hundred named keys, since
 * otherwise a skewed job could not be distinguished from a balanced one. The names of a reduce task
 * take about 1/300 of its input.
 *
 * <p>Immutable.
 */
public final class NameBudget {
  /**
   * Equals the number of sampled keys in agent/map_recorder.cc. A sample of this many keys gives
   * the sizes of all keys to within a few percent.
   */
  public static final int SAMPLED_KEYS_MAX = 512;

  public static final int SAMPLED_KEYS_MIN = 128;
  static final int EXPLICIT_KEYS_MIN = 256;

  /** A hash of 8 bytes, a size and a number of values. */
  private static final long NAME_BYTES = 12;

  private static final long OUTPUT_BYTES_PER_NAME = 200 * NAME_BYTES;

  /** A hash of 8 bytes, a size, a time and the emitted bytes. */
  private static final long FINISHED_NAME_BYTES = 16;

  private static final long REDUCED_BYTES_PER_NAME = 300 * FINISHED_NAME_BYTES;
  private static final int FINISHED_NAMES_MIN = 128;

  public final int explicitKeys;
  public final int sampledKeys;

  /**
   * {@code outputBytes} is the size after compression, as shuffled; {@code lambda} is the maximum
   * number of explicit keys.
   */
  public NameBudget(long outputBytes, int lambda) {
    final long names = Math.max(outputBytes, 0) / OUTPUT_BYTES_PER_NAME;
    explicitKeys = (int) Math.min(Math.max(names - names / 3, EXPLICIT_KEYS_MIN), lambda);
    sampledKeys = (int) Math.min(Math.max(names / 3, SAMPLED_KEYS_MIN), SAMPLED_KEYS_MAX);
  }

  /**
   * Returns the number of keys that a reduce task may name before it has reduced {@code
   * reducedBytes}.
   */
  public static int finishedNames(long reducedBytes) {
    final long paid = Math.max(reducedBytes, 0) / REDUCED_BYTES_PER_NAME;
    return (int) Math.min(Math.max(paid, FINISHED_NAMES_MIN), Integer.MAX_VALUE);
  }
}
