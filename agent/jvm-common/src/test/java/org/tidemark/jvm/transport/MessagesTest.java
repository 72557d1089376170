package org.tidemark.jvm.transport;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.Test;

public class MessagesTest {
  private final List<String> taken = new ArrayList<>();
  private final Messages messages =
      new Messages(message -> taken.add(new String(message, StandardCharsets.US_ASCII)));

  private static final byte[] THREE = {0, 0, 0, 0, 2, 'o', 'k', 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'x'};

  @Test
  public void arriveCompletelyForAnyFragmentation() throws Exception {
    for (int size = 1; size <= THREE.length; ++size) {
      taken.clear();
      for (int at = 0; at < THREE.length; at += size) {
        messages.add(THREE, at, Math.min(size, THREE.length - at));
      }
      assertEquals(Arrays.asList("ok", "", "x"), taken);
    }
  }

  @Test(expected = IOException.class)
  public void areNotCompressed() throws Exception {
    messages.add(new byte[] {1, 0, 0, 0, 0}, 0, 5);
  }

  @Test(expected = IOException.class)
  public void areNotAboveTheLimit() throws Exception {
    messages.add(new byte[] {0, -1, -1, -1, -1}, 0, 5);
  }
}
