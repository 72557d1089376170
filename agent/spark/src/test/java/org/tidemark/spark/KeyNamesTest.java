package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.Test;
import scala.Tuple2;

public class KeyNamesTest {
  @Test
  public void textsNumbersAndPairsHaveDistinctNames() {
    final List<Object> keys =
        Arrays.asList(
            "", "a", "b", 1, 2, 3L, 0.5, -0.5, 'x', true, new Tuple2<>("a", 1), new Tuple2<>(1, "a"));
    final Set<Long> names = new HashSet<>();
    for (Object key : keys) {
      assertTrue(KeyNames.has(key));
      names.add(KeyNames.of(key));
    }
    // true has the same name as 1, since no shuffle contains both.
    assertEquals(keys.size() - 1, names.size());
  }

  @Test
  public void equalKeysHaveOneName() {
    assertEquals(KeyNames.of(new String("a")), KeyNames.of("a"));
    assertEquals(KeyNames.of(new Tuple2<>("a", 1L)), KeyNames.of(new Tuple2<>("a", 1L)));
  }

  @Test
  public void otherKeysHaveNoHash() {
    assertFalse(KeyNames.has(null));
    assertFalse(KeyNames.has(new Object()));
    assertFalse(KeyNames.has(new int[] {1}));
    assertFalse(KeyNames.has(new Tuple2<>("a", new Object())));
  }
}
