package org.tidemark.jvm.profile;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

/** Tests key groups without requested names. {@link SharedVectorsTest} tests their units. */
public class ReduceMeterTest {
  private static final long QUICK_BYTES = 100;

  private final MeterSettings settings = new MeterSettings();
  private final ReduceMeter meter = new ReduceMeter(settings);
  private long now;

  private void read(long bytes) {
    now += 1_000;
    final boolean turnsLarge = meter.turnsLarge(bytes);
    meter.read(bytes);
    if (turnsLarge) {
      if (!meter.isNamed()) {
        meter.name(77);
      }
      meter.turnLarge(now);
    }
  }

  private void end() {
    if (meter.end(0)) {
      meter.closeUnit(now);
    }
  }

  private void runQuickGroups() {
    for (int i = 1; i <= 16; ++i) {
      assertTrue(meter.asksForNames());
      meter.begin(i, 0);
      read(QUICK_BYTES);
      end();
    }
    meter.take(true);
  }

  @Test
  public void quickKeyGroupsHaveNoNames() {
    runQuickGroups();
    assertFalse(meter.asksForNames());
  }

  @Test
  public void theMasterMaySampleThem() {
    runQuickGroups();
    settings.setSampledBelow(1);
    assertTrue(meter.asksForNames());
  }

  @Test
  public void theProfileGuaranteesNamesOnlyAboveUnnamedGroups() {
    runQuickGroups();
    meter.beginUnnamed(0);
    read(QUICK_BYTES);
    end();
    meter.begin(5, 0);
    read(QUICK_BYTES + 1);
    end();
    meter.closeUnit(now);
    final ReduceMeter.Taken taken = meter.take(true);
    assertArrayEquals(new long[] {5}, taken.namedHashes);
    assertEquals(QUICK_BYTES + 1, taken.namedBytesMin);
    assertEquals(18, taken.groupsDone);
  }

  @Test
  public void aLargeKeyGroupHasAName() {
    runQuickGroups();
    meter.beginUnnamed(0);
    assertFalse(meter.running(0).isNamed);
    read(1_000_000);
    assertTrue(meter.running(0).isNamed);
    assertEquals(77, meter.running(0).key);
    end();
    assertArrayEquals(new long[] {77}, meter.take(true).namedHashes);
  }
}
