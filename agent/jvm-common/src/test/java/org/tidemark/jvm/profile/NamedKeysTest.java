package org.tidemark.jvm.profile;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** Tests which finished key groups a reduce profile names. */
public class NamedKeysTest {
  private static final long NO_SAMPLE = 0;
  private static final int ALL = Integer.MAX_VALUE;

  private static void add(NamedKeys names, long hash, long bytes, long sampledBelow) {
    names.add(hash, bytes, 0, 0, 50, sampledBelow);
  }

  @Test
  public void onlyGroupsOfTheRequestedSizeAreNamed() {
    final NamedKeys names = new NamedKeys(4);
    add(names, 1, 49, NO_SAMPLE);
    add(names, 2, 50, NO_SAMPLE);
    names.settle(50, ALL);
    assertArrayEquals(new long[] {2}, names.hashes());
    assertEquals(50, names.bytesMin());
  }

  @Test
  public void sampledKeysComeFirstForAnySize() {
    final NamedKeys names = new NamedKeys(4);
    final long below = KeySampler.rank(3) + 1;
    add(names, 1, 60, below);  // This key has a higher rank (tests/vectors/sample_rank.json).
    add(names, 3, 2, below);
    names.settle(50, ALL);
    assertArrayEquals(new long[] {3, 1}, names.hashes());
    assertArrayEquals(new long[] {2, 60}, names.sizes());
    assertEquals("sampled ones promise nothing about sizes", 50, names.bytesMin());
  }

  @Test
  public void tooManyGroupsAreCutToTheLargestWithTheirBound() {
    final NamedKeys names = new NamedKeys(3);
    for (int i = 1; i <= 6; ++i) {
      add(names, i, 100 + i, NO_SAMPLE);
    }
    names.settle(50, ALL);
    assertArrayEquals(new long[] {104, 105, 106}, names.sizes());
    assertEquals(104, names.bytesMin());
    names.clear();
    assertEquals(0, names.count());
    add(names, 9, 50, NO_SAMPLE);
    names.settle(50, ALL);
    assertEquals("the promise is renewed", 50, names.bytesMin());
  }

  @Test
  public void namesAreLimitedByTheProfile() {
    final NamedKeys names = new NamedKeys(8);
    for (int i = 1; i <= 6; ++i) {
      add(names, i, 100 + i, NO_SAMPLE);
    }
    names.settle(50, 2);
    assertArrayEquals(new long[] {105, 106}, names.sizes());
    assertEquals(105, names.bytesMin());
  }

  @Test
  public void manyGroupsOfOneSizeHaveNoNames() {
    final NamedKeys names = new NamedKeys(8);
    for (int i = 1; i <= 6; ++i) {
      add(names, i, 100, NO_SAMPLE);
    }
    names.settle(50, 2);
    assertEquals(0, names.count());
    assertEquals(101, names.bytesMin());
  }

  @Test
  public void sizesWithUnnamedKeysHaveNoBound() {
    final NamedKeys names = new NamedKeys(8);
    add(names, 1, 80, NO_SAMPLE);
    names.leaveOut(80);
    add(names, 2, 90, NO_SAMPLE);
    names.settle(50, ALL);
    assertArrayEquals(new long[] {2}, names.hashes());
    assertEquals(81, names.bytesMin());
  }
}
