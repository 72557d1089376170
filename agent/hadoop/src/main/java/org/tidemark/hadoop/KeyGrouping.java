package org.tidemark.hadoop;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.tidemark.hadoop.profile.KeyHash;
import org.tidemark.hadoop.wire.JobShape.Grouping;

/**
 * Which serialized keys form one key group, and what names it. Each instance has comparators of its
 * own and belongs to one thread.
 *
 * <p>With a grouping comparator of its own, a job's group has other first keys in other map tasks.
 * If the user says how many leading bytes decide, those are hashed; otherwise the grouping is
 * opaque, and keys have no names.
 */
final class KeyGrouping {
  private static final String GROUP_COMPARATOR = "mapreduce.job.output.group.comparator.class";
  private static final String SORT_COMPARATOR = "mapreduce.job.output.key.comparator.class";

  /** Keys that these compare as equal are the same bytes: those need not be compared twice. */
  private static final Set<Class<?>> BYTEWISE =
      new HashSet<>(
          Arrays.asList(
              Text.Comparator.class,
              BytesWritable.Comparator.class,
              IntWritable.Comparator.class,
              LongWritable.Comparator.class));

  private final RawComparator<?> comparator;
  private final boolean isBytewise;
  private final Grouping kind;
  private final int prefixBytes;
  private byte[] first = new byte[64];
  private int firstLength = -1;

  private KeyGrouping(RawComparator<?> comparator, Grouping kind, int prefixBytes) {
    this.comparator = comparator;
    isBytewise = BYTEWISE.contains(comparator.getClass());
    this.kind = kind;
    this.prefixBytes = prefixBytes;
  }

  static KeyGrouping of(JobConf job) {
    final String grouping = job.get(GROUP_COMPARATOR);
    final boolean custom = grouping != null && !grouping.equals(job.get(SORT_COMPARATOR));
    final int prefix = job.getInt(Keys.GROUPING_PREFIX_BYTES, 0);
    final Grouping kind =
        !custom ? Grouping.WHOLE_KEY : prefix > 0 ? Grouping.PREFIX : Grouping.OPAQUE;
    return new KeyGrouping(job.getOutputValueGroupingComparator(), kind, prefix);
  }

  Grouping kind() {
    return kind;
  }

  int prefixBytes() {
    return kind == Grouping.PREFIX ? prefixBytes : 0;
  }

  /** Whether the hash of a key means the same in every task. */
  boolean namesKeys() {
    return kind != Grouping.OPAQUE;
  }

  /** The next key starts a group whatever it is. */
  void reset() {
    firstLength = -1;
  }

  /** Whether this key, coming after those before, starts a group; then it is remembered as first. */
  boolean startsGroup(byte[] bytes, int offset, int length) {
    if (firstLength >= 0 && isSame(bytes, offset, length)) {
      return false;
    }
    if (first.length < length) {
      first = new byte[Math.max(length, first.length * 2)];
    }
    System.arraycopy(bytes, offset, first, 0, length);
    firstLength = length;
    return true;
  }

  /** The name of the group that was started last. */
  long hash() {
    final int named = kind == Grouping.PREFIX ? Math.min(prefixBytes, firstLength) : firstLength;
    return KeyHash.of(first, 0, named);
  }

  private boolean isSame(byte[] bytes, int offset, int length) {
    if (length == firstLength) {
      int at = 0;
      while (at < length && first[at] == bytes[offset + at]) {
        ++at;
      }
      if (at == length) {
        return true;
      }
    }
    return !isBytewise && comparator.compare(first, 0, firstLength, bytes, offset, length) == 0;
  }
}
