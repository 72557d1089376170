package org.tidemark.spark;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class FailureCauseTest {
  private static final String LOST =
      "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: "
          + "Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.1 executor 2): ";
  private static final String STACK = "\n\tat org.apache.spark.Task.run(Task.scala:1)\n";

  @Test
  public void isTheExceptionOfThePythonTraceback() {
    final String python =
        "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
            + "  File \"/app/worker.py\", line 1247, in main\n    process()\n"
            + "    ^^^^^^^^^\nValueError: bad price\nof item 7\n"
            + STACK;
    assertEquals("ValueError: bad price", FailureCause.of(LOST + python));
    assertEquals("ValueError: bad price", FailureCause.of(python));
  }

  @Test
  public void isTheLastOfSuccessiveExceptions() {
    assertEquals(
        "app.Wrong",
        FailureCause.of(
            "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'a'\n\n"
                + "During handling of the above exception, another exception occurred:\n\n"
                + "Traceback (most recent call last):\r\n  File \"b.py\"\r\napp.Wrong\r\n"));
  }

  @Test
  public void isTheExceptionOfTheLastFailedTask() {
    assertEquals(
        "java.lang.ArithmeticException: / by zero",
        FailureCause.of(LOST + "java.lang.ArithmeticException: / by zero" + STACK));
  }

  @Test
  public void isTheTotalWithoutANamedOne() {
    for (String whole :
        new String[] {
          "", "boom", "a.B: bad" + STACK, LOST, "Traceback (most recent call last):\n  File \"a",
        }) {
      assertEquals(whole, FailureCause.of(whole));
    }
  }
}
