package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Locale;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapred.JobConf;
import org.junit.Test;
import org.tidemark.hadoop.JobShape.Grouping;

public class KeyGroupingTest {
  /** Treats "Foo" and "foo" as equal. */
  public static final class IgnoringCase extends WritableComparator {
    public IgnoringCase() {
      super(Text.class, true);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public int compare(WritableComparable a, WritableComparable b) {
      return lower(a).compareTo(lower(b));
    }

    private static String lower(WritableComparable<?> word) {
      return word.toString().toLowerCase(Locale.ROOT);
    }
  }

  /** Treats numbers that differ by one as equal. */
  public static final class Neighbours extends WritableComparator {
    public Neighbours() {
      super(IntWritable.class, true);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public int compare(WritableComparable a, WritableComparable b) {
      final int gap = ((IntWritable) a).get() - ((IntWritable) b).get();
      return Math.abs(gap) <= 1 ? 0 : gap;
    }
  }

  /** A key class of a job that compares without case. */
  public static final class Word extends Text {
    public Word() {}

    Word(String word) {
      super(word);
    }

    @Override
    public int compareTo(org.apache.hadoop.io.BinaryComparable other) {
      return toString().compareToIgnoreCase(other.toString());
    }
  }

  private static JobConf jobOf(Class<?> key) {
    final JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(key);
    return job;
  }

  private static KeyGrouping groupingByPrefix(int bytes) {
    final JobConf job = jobOf(Text.class);
    job.setOutputValueGroupingComparator(IgnoringCase.class);
    job.setInt(Keys.GROUPING_PREFIX_BYTES, bytes);
    return KeyGrouping.of(job);
  }

  private static boolean starts(KeyGrouping grouping, Writable key) throws Exception {
    final DataOutputBuffer bytes = new DataOutputBuffer();
    key.write(bytes);
    return grouping.startsGroup(bytes.getData(), 0, bytes.getLength());
  }

  private static int groups(KeyGrouping grouping, Writable... keys) throws Exception {
    int groups = 0;
    for (Writable key : keys) {
      groups += starts(grouping, key) ? 1 : 0;
    }
    return groups;
  }

  @Test
  public void theWholeKeyNamesItsGroupWithoutAComparator() throws Exception {
    final KeyGrouping grouping = KeyGrouping.of(jobOf(Text.class));
    assertEquals(Grouping.WHOLE_KEY, grouping.kind());
    assertEquals(2, groups(grouping, new Text("Foo"), new Text("Foo"), new Text("foo")));
    assertTrue(grouping.namesKeys());
  }

  @Test
  public void aSortComparatorWithSeveralFormsOfAKeyRemovesKeyNames() {
    final JobConf job = jobOf(Text.class);
    job.setOutputKeyComparatorClass(IgnoringCase.class);
    assertEquals(Grouping.OPAQUE, KeyGrouping.of(job).kind());
    job.setOutputValueGroupingComparator(IgnoringCase.class);
    assertEquals(Grouping.OPAQUE, KeyGrouping.of(job).kind());
  }

  @Test
  public void aReversingSortComparatorKeepsKeyNames() {
    final JobConf job = jobOf(LongWritable.class);
    job.setOutputKeyComparatorClass(LongWritable.DecreasingComparator.class);
    assertEquals(Grouping.WHOLE_KEY, KeyGrouping.of(job).kind());
  }

  @Test
  public void theComparedPrefixOfASortComparatorIsConfigurable() {
    final JobConf job = jobOf(Text.class);
    job.setOutputKeyComparatorClass(IgnoringCase.class);
    job.setInt(Keys.GROUPING_PREFIX_BYTES, Integer.MAX_VALUE);
    assertEquals(Grouping.PREFIX, KeyGrouping.of(job).kind());
  }

  @Test
  public void aKeyIsComparedWithItsPredecessorAndNotWithTheFirstOfItsGroup() throws Exception {
    final JobConf job = jobOf(IntWritable.class);
    job.setOutputValueGroupingComparator(Neighbours.class);
    final KeyGrouping grouping = KeyGrouping.of(job);
    for (int i = 0; i < 12; ++i) {
      assertEquals("key " + i, i == 0, starts(grouping, new IntWritable(i)));
    }
    assertTrue(starts(grouping, new IntWritable(20)));
  }

  @Test
  public void keysThatCompareAsEqualLoseTheirNames() throws Exception {
    final KeyGrouping grouping = KeyGrouping.of(jobOf(Word.class));
    assertEquals(1, groups(grouping, new Word("bar")));
    assertTrue(grouping.namesKeys());
    assertEquals(1, groups(grouping, new Word("Foo"), new Word("foo")));
    assertFalse(grouping.namesKeys());
  }

  @Test
  public void aTooShortPrefixRemovesKeyNames() throws Exception {
    // The prefix includes one byte for the length.
    final KeyGrouping grouping = groupingByPrefix(3);
    assertEquals(2, groups(grouping, new Text("bar"), new Text("foo")));
    assertTrue(grouping.namesKeys());
    assertEquals("two groups of one name", 1, groups(grouping, new Text("fox")));
    assertFalse(grouping.namesKeys());
  }

  @Test
  public void aTooLongPrefixRemovesKeyNames() throws Exception {
    final KeyGrouping grouping = groupingByPrefix(4);
    assertEquals("two names of one group", 1, groups(grouping, new Text("Foo"), new Text("foo")));
    assertFalse(grouping.namesKeys());
  }

  @Test
  public void theNextPartitionMayStartWithTheSameName() throws Exception {
    final KeyGrouping grouping = groupingByPrefix(4);
    assertEquals(1, groups(grouping, new Text("foo")));
    grouping.reset();
    assertEquals(1, groups(grouping, new Text("foo")));
    assertTrue(grouping.namesKeys());
  }
}
