package org.tidemark.jvm.profile;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public final class NameBudgetTest {
  private static void assertNames(int explicitKeys, int sampledKeys, NameBudget budget) {
    assertEquals(explicitKeys, budget.explicitKeys);
    assertEquals(sampledKeys, budget.sampledKeys);
  }

  /** 1,000 names of 12 bytes are 1/200 of 2,400,000 bytes. */
  @Test
  public void namesTakeHalfAPercentOfTheOutput() {
    assertNames(667, 333, new NameBudget(2_400_000, 2000));
  }

  @Test
  public void aSmallOutputNamesAFewHundredKeys() {
    assertNames(256, 128, new NameBudget(10_000, 2000));
    assertNames(256, 128, new NameBudget(0, 2000));
    assertNames(256, 128, new NameBudget(-1, 2000));
  }

  @Test
  public void aLargeOutputNamesAtMostTheRequestedKeys() {
    assertNames(2000, 512, new NameBudget(Long.MAX_VALUE, 2000));
    assertNames(7, 128, new NameBudget(10_000, 7));
  }

  /** 1,000 names of 16 bytes are 1/300 of 4,800,000 bytes. */
  @Test
  public void namesOfAReduceTaskHaveALimitedShareOfItsTime() {
    assertEquals(1000, NameBudget.finishedNames(4_800_000));
    assertEquals(128, NameBudget.finishedNames(10_000));
    assertEquals(128, NameBudget.finishedNames(-1));
    assertEquals(Integer.MAX_VALUE, NameBudget.finishedNames(Long.MAX_VALUE));
  }
}
