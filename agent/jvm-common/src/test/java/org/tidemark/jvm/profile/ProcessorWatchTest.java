package org.tidemark.jvm.profile;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.Test;

public class ProcessorWatchTest {
  private static void assumeItIsReported() {
    assumeTrue(Files.isReadable(Paths.get("/proc/thread-self/schedstat")));
  }

  @Test
  public void theSecondNumberIsTheWait() {
    assertEquals(5_210_086, ProcessorWatch.parseWait("479039 5210086 4\n"));
    assertEquals(0, ProcessorWatch.parseWait("479039 0 4"));
    assertEquals(Long.MAX_VALUE, ProcessorWatch.parseWait("1 9223372036854775807 1\n"));
  }

  @Test
  public void aKernelWithoutCountersYieldsNoWaits() {
    assertEquals(-1, ProcessorWatch.parseWait("0 0 0\n"));
  }

  @Test
  public void otherTextsAreInvalid() {
    for (String text :
        new String[] {
          "", "\n", "5", "5 6", "5 6\n", "5  6 7", "-5 6 7", "5 -6 7", "5 6x 7", "5 6 x",
          "no numbers here", "1 9223372036854775808 1", "1 99999999999999999999999 1", "0x5 6 7"
        }) {
      assertEquals(text, -1, ProcessorWatch.parseWait(text));
    }
  }

  @Test
  public void countsFromTheFirstPoll() {
    assumeItIsReported();
    final ProcessorWatch watch = ProcessorWatch.ofThisThread(1_000);
    assertNull("no time has passed", watch.read(1_000));
    final ProcessorWatch.Use use = watch.read(1_007);
    assertEquals(7, use.watchedNanos);
    assertTrue("whatever it waited before", use.waitedNanos >= 0 && use.waitedNanos <= 7);
    assertEquals(Runtime.getRuntime().availableProcessors(), use.processors);
  }

  @Test
  public void anotherThreadPollsUntilTheThreadEnds() throws Exception {
    assumeItIsReported();
    final AtomicReference<ProcessorWatch> watch = new AtomicReference<>();
    final Object end = new Object();
    final Thread thread =
        new Thread(
            () -> {
              synchronized (end) {
                watch.set(ProcessorWatch.ofThisThread(0));
                end.notifyAll();
                try {
                  end.wait();
                } catch (InterruptedException asked) {
                  return;
                }
              }
            });
    synchronized (end) {
      thread.start();
      while (watch.get() == null) {
        end.wait();
      }
      assertNotNull(watch.get().read(1));
      end.notifyAll();
    }
    thread.join();
    // The kernel removes the thread slightly later than Java.
    for (int i = 0; i < 1_000 && watch.get().read(2) != null; ++i) {
      Thread.sleep(10);
    }
    assertNull(watch.get().read(3));
  }
}
