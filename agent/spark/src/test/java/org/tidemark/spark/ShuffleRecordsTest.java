package org.tidemark.spark;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class ShuffleRecordsTest {
  private final ShuffleRecords shuffles = new ShuffleRecords();

  @Test
  public void areTheRecordsPerByteOfAllTasksThatWroteTheShuffle() {
    shuffles.writes(4, 1);
    shuffles.wrote(4, 10, 100);
    shuffles.wrote(4, 30, 100);
    shuffles.writes(7, 1);  // Another stage writes lost output again.
    shuffles.wrote(7, 20, 200);
    assertEquals(0.15, shuffles.perByte(1), 1e-9);
  }

  @Test
  public void areUnknownForAShuffleWithoutOutput() {
    shuffles.wrote(4, 10, 100);
    shuffles.writes(5, 2);
    shuffles.wrote(5, 0, 0);
    assertEquals(0, shuffles.perByte(1), 0);
    assertEquals(0, shuffles.perByte(2), 0);
  }
}
