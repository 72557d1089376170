package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import org.junit.Test;

public class MembersTest {
  private final Members members = new Members();

  interface Shape {
    default int corners() {
      return 3;
    }
  }

  static class Base {
    private String name() {
      return "base";
    }

    int twice(int number) {
      return 2 * number;
    }
  }

  static final class Derived extends Base implements Shape {}

  @Test
  public void findsMembersOfAClassItsParentsAndItsInterfaces() throws Exception {
    final Derived derived = new Derived();
    for (int i = 0; i < 2; ++i) {
      assertEquals("base", members.call(derived, "name"));
      assertEquals(14, members.call(derived, "twice", 7));
      assertEquals(3, members.call(derived, "corners"));
    }
  }

  @Test
  public void aMissingMemberThrowsAReflectiveOperationException() {
    assertThrows(
        ReflectiveOperationException.class, () -> members.call(new Derived(), "twice", 1, 2));
  }
}
