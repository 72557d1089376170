package org.tidemark.hadoop;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.tidemark.hadoop.JobShape.Grouping;
import org.tidemark.jvm.profile.KeyHash;

/**
 * Determines which serialized keys of the map output form one key group, and the name of the group.
 * Each instance has its own comparators and belongs to one thread.
 *
 * <p>A comparator of the job may treat different bytes as one key, so a group may have different
 * first keys in different map tasks. If the user sets the number of leading bytes to compare, only
 * these bytes are hashed. Otherwise the grouping is opaque, and keys have no names. It also becomes
 * opaque as soon as names contradict the comparator: one name for two groups, or two names for one
 * group.
 */
final class KeyGrouping {
  private static final String GROUP_COMPARATOR = "mapreduce.job.output.group.comparator.class";
  private static final String SORT_COMPARATOR = "mapreduce.job.output.key.comparator.class";

  /**
   * Classes whose keys compare as equal only if their bytes are equal. Their bytes need not be
   * compared.
   */
  private static final Set<Class<?>> BYTEWISE =
      new HashSet<>(
          Arrays.asList(
              Text.Comparator.class,
              BytesWritable.Comparator.class,
              IntWritable.Comparator.class,
              LongWritable.Comparator.class,
              LongWritable.DecreasingComparator.class));

  private final RawComparator<?> comparator;
  private final boolean isBytewise;
  private final int prefixBytes;
  private Grouping kind;
  private byte[] previous = new byte[64];
  private int previousLength = -1;
  private long name;

  private KeyGrouping(RawComparator<?> comparator, Grouping kind, int prefixBytes) {
    this.comparator = comparator;
    isBytewise = BYTEWISE.contains(comparator.getClass());
    this.kind = kind;
    this.prefixBytes = prefixBytes;
  }

  static KeyGrouping of(JobConf job) {
    final RawComparator<?> comparator = job.getOutputValueGroupingComparator();
    final int prefix = job.getInt(Keys.GROUPING_PREFIX_BYTES, 0);
    return new KeyGrouping(comparator, kind(job, comparator, prefix), prefix);
  }

  private static Grouping kind(JobConf job, RawComparator<?> comparator, int prefix) {
    if (BYTEWISE.contains(comparator.getClass())) {
      return Grouping.WHOLE_KEY;
    }
    if (prefix > 0) {
      return Grouping.PREFIX;
    }
    // whether a name identifies the same key in every task
    final boolean isJobs = job.get(GROUP_COMPARATOR) != null || job.get(SORT_COMPARATOR) != null;
    return isJobs ? Grouping.OPAQUE : Grouping.WHOLE_KEY;
  }

  Grouping kind() {
    return kind;
  }

  int prefixBytes() {
    return kind == Grouping.PREFIX ? prefixBytes : 0;
  }

  /** Returns true if a name identifies the same key in every task. */
  boolean namesKeys() {
    return kind != Grouping.OPAQUE;
  }

  /** Returns the reason why the grouping no longer names keys, for the log. */
  String contradiction() {
    final String setting = Keys.GROUPING_PREFIX_BYTES;
    return prefixBytes > 0
        ? setting + "=" + prefixBytes + " does not match the job's comparator"
        : "the job's comparator treats keys with different bytes as equal; set "
            + setting
            + " to the number of leading bytes that it compares";
  }

  /** Makes the next key start a group. */
  void reset() {
    previousLength = -1;
  }

  /**
   * Returns true if this key starts a group. Like Hadoop's newer API, compares the key with the
   * previous key, which need not be the first of its group.
   */
  boolean startsGroup(byte[] bytes, int offset, int length) {
    if (isPrevious(bytes, offset, length)) {
      return false;
    }
    final boolean isFirst = previousLength < 0;
    final boolean starts =
        isFirst
            || isBytewise
            || comparator.compare(previous, 0, previousLength, bytes, offset, length) != 0;
    if (namesKeys()) {
      final long before = name;
      name = name(bytes, offset, length);
      if (!isFirst && starts == (name == before)) {
        kind = Grouping.OPAQUE;
      }
    }
    if (previous.length < length) {
      previous = new byte[Math.max(length, previous.length * 2)];
    }
    System.arraycopy(bytes, offset, previous, 0, length);
    previousLength = length;
    return starts;
  }

  /** Returns the name of the last group. The name is meaningless if keys have no names. */
  long name() {
    return name;
  }

  /** Returns the name of a key's group. */
  long name(DataInputBuffer key) {
    return name(key.getData(), key.getPosition(), key.getLength() - key.getPosition());
  }

  private long name(byte[] bytes, int offset, int length) {
    final int named = kind == Grouping.PREFIX ? Math.min(prefixBytes, length) : length;
    return KeyHash.of(bytes, offset, named);
  }

  private boolean isPrevious(byte[] bytes, int offset, int length) {
    if (length != previousLength) {
      return false;
    }
    int at = 0;
    while (at < length && previous[at] == bytes[offset + at]) {
      ++at;
    }
    return at == length;
  }
}
