package org.tidemark.spark;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class GroupNameTest {
  @Test
  public void isTheFirstLineOfTheDescription() {
    assertEquals("the sales of May", GroupName.of("the sales of May", "count at a.py:1"));
    assertEquals("load", GroupName.of("load\nat org.Main.run(Main.java:7)", "count at a.py:1"));
    assertEquals("select a", GroupName.of(" \r\n\tselect a\r\nfrom b", ""));
  }

  @Test
  public void isTheFirstLineOfTheCallSiteWithoutADescription() {
    for (String none : new String[] {null, "", " \n"}) {
      assertEquals("count at a.py:1", GroupName.of(none, "\n count at a.py:1\nat b.py:2"));
    }
    assertEquals("", GroupName.of("", ""));
  }
}
