package org.tidemark.spark;

import static org.junit.Assert.assertArrayEquals;

import java.util.Collections;
import java.util.List;
import org.junit.Test;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

public class ApplicationEndTest {
  private static final long AT = 9_000;
  private static final List<String> NONE = Collections.emptyList();

  private final ApplicationEnd end = new ApplicationEnd();

  private void assertClosing(Events.Outcome outcome, String message, List<String> open) {
    assertArrayEquals(bytes(Events.jobClosed(outcome, message, AT)), bytes(end.closing(open)));
  }

  private static byte[] bytes(Event event) {
    return event.encoded(0).toByteArray();
  }

  @Test
  public void anApplicationEndsAsItsLastGroupBeforeSpark4() {
    end.groupEnded("sql/0", "sql/0 failed: boom");
    end.groupEnded("sql/1", null);
    end.ended(AT, null);
    assertClosing(Events.Outcome.SUCCEEDED, null, NONE);
  }

  @Test
  public void anApplicationFailsWithItsLastGroupUnlessTheDriverExitsWithZero() {
    end.groupEnded("sql/0", "sql/0 failed: boom");
    end.ended(AT, null);
    assertClosing(Events.Outcome.FAILED, "sql/0 failed: boom", NONE);
    end.ended(AT, 0);
    assertClosing(Events.Outcome.SUCCEEDED, null, NONE);
    end.ended(AT, 3);
    assertClosing(
        Events.Outcome.FAILED, "sql/0 failed: boom; the driver exited with status 3", NONE);
  }

  @Test
  public void aJobCancelledByAQueryDoesNotFailTheApplication() {
    end.jobFailed("sql/0");
    end.groupEnded("sql/0", null);
    end.ended(AT, null);
    assertClosing(Events.Outcome.SUCCEEDED, null, NONE);
  }

  @Test
  public void anApplicationWithOpenGroupsHasAnUnknownOutcome() {
    for (Integer code : new Integer[] {null, 0}) {
      end.ended(AT, code);
      assertClosing(
          Events.Outcome.UNKNOWN,
          "the application ended, but Spark did not report the end of sql/0 and 1 more",
          List.of("sql/0", "sql/1"));
    }
  }

  @Test
  public void anApplicationStoppedDuringAGroupIsKilled() {
    end.ended(AT, 0);
    end.jobFailed("sql/0");
    end.groupEnded("sql/1", "cancelled because SparkContext was shut down");
    assertClosing(
        Events.Outcome.KILLED,
        "the application was stopped while sql/0 was running",
        List.of("sql/0"));
  }
}
