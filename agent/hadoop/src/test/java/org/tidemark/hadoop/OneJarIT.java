package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
import org.junit.Test;
import org.tidemark.jvm.support.ConnectorJar;

public class OneJarIT {
  /** Another connector in the same JVM has its own copies of shared classes. */
  @Test
  public void everyClassIsBelowTheConnectorsOwnPackage() throws Exception {
    assertEquals(
        Collections.emptyList(), ConnectorJar.classesOutside("org.tidemark.hadoop"));
    assertTrue(ConnectorJar.classes().contains("org/tidemark/hadoop/jvm/transport/Sender.class"));
  }
}
