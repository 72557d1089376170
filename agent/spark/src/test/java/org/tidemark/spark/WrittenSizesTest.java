package org.tidemark.spark;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;

public class WrittenSizesTest {
  private static final int SHUFFLE = 3;

  @Rule public final Timeout timeout = Timeout.seconds(60);

  private final WrittenSizes sizes = new WrittenSizes(WrittenSizes.PATIENCE_NANOS);

  private static long[] output(long task, long... bytes) {
    final long[] output = new long[2 + bytes.length];
    output[0] = SHUFFLE;
    output[1] = task;
    System.arraycopy(bytes, 0, output, 2, bytes.length);
    return output;
  }

  @Test
  public void areTheSumsOverTheTasks() throws Exception {
    sizes.add(output(10, 5, 0, 7));
    sizes.add(output(12, 1, 2, 3));
    sizes.add(output(12, 1, 2, 3));  // This is the same report again.
    assertArrayEquals(new long[] {6, 2, 10}, sizes.of(SHUFFLE, new long[] {12, 10}));
  }

  @Test
  public void waitForSizesInTransit() throws Exception {
    final WrittenSizes sizes = new WrittenSizes(Long.MAX_VALUE / 2);
    final Thread late =
        new Thread(
            () -> {
              try {
                Thread.sleep(20);
              } catch (InterruptedException never) {
                return;
              }
              sizes.add(output(10, 5));
            });
    late.start();
    assertArrayEquals(new long[] {5}, sizes.of(SHUFFLE, new long[] {10}));
    late.join();
  }

  @Test
  public void areAwaitedOnceWithoutReports() throws Exception {
    assertNull(sizes.of(SHUFFLE, new long[] {10}));
    // That many waits would exceed the time limit of the test.
    for (int i = 0; i < 1_000; ++i) {
      assertNull(sizes.of(SHUFFLE, new long[] {10}));
    }
    sizes.add(new long[] {SHUFFLE + 1, 11, 5});  // A report arrives.
    final long before = System.nanoTime();
    assertNull(sizes.of(SHUFFLE, new long[] {10}));
    assertTrue(System.nanoTime() - before >= WrittenSizes.PATIENCE_NANOS);
  }

  @Test
  public void areUnknownIfATaskReportsNoneOrItsOutputIsLost() throws Exception {
    assertNull(sizes.of(SHUFFLE, new long[] {10}));
    sizes.add(output(10, 5));
    sizes.add(output(11, 6));  // This report replaces the previous one.
    assertNull(sizes.of(SHUFFLE, new long[] {11}));
    assertNull(sizes.of(SHUFFLE, new long[] {10, 12}));
    assertNull("of another length", sizes.of(SHUFFLE, new long[] {10, 11, 12}));
  }

  @Test
  public void skipInvalidValues() throws Exception {
    sizes.add(new long[] {});
    sizes.add(new long[] {SHUFFLE, -1, 4});
    sizes.add(new long[] {SHUFFLE, Integer.MAX_VALUE, 4});
    sizes.add(output(10, new long[MapOutputs.PARTITIONS_MAX + 1]));
    sizes.add(output(10, 5, 6));
    sizes.add(output(11, 5));  // This report has another number of partitions.
    assertArrayEquals(new long[] {5, 6}, sizes.of(SHUFFLE, new long[] {10}));
  }

  @Test
  public void areReplacedByNewerOnes() throws Exception {
    sizes.add(output(10, 5));
    for (int shuffle = 100; shuffle < 120; ++shuffle) {
      sizes.add(new long[] {shuffle, 11, 5});
    }
    assertNull(sizes.of(SHUFFLE, new long[] {10}));
  }
}
