package org.tidemark.spark;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class WrittenSizesTest {
  private static final int SHUFFLE = 3;

  private final WrittenSizes sizes = new WrittenSizes();

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
    sizes.add(output(12, 1, 2, 3));  // reported again
    assertArrayEquals(new long[] {6, 2, 10}, sizes.of(SHUFFLE, new long[] {12, 10}));
  }

  @Test
  public void waitForSizesInTransit() throws Exception {
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
    final long before = System.nanoTime();
    for (int i = 0; i < 50; ++i) {
      assertNull(sizes.of(SHUFFLE, new long[] {10}));
    }
    // Fifty waits of 200 ms would take 10 s.
    assertTrue(System.nanoTime() - before < 5_000_000_000L);
    sizes.add(new long[] {SHUFFLE + 1, 11, 5});  // a report arrives
    waitForSizesInTransit();
  }

  @Test
  public void areUnknownIfATaskReportsNoneOrItsOutputIsLost() throws Exception {
    assertNull(sizes.of(SHUFFLE, new long[] {10}));
    sizes.add(output(10, 5));
    sizes.add(output(11, 6));  // replaces the previous one
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
    sizes.add(output(11, 5));  // another number of partitions
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
