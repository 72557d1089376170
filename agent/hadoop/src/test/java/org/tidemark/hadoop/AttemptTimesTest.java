package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.junit.Test;
import org.tidemark.jvm.wire.TimeUse;

public class AttemptTimesTest {
  private static final long COMPUTED_MICROS = 50_000;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** Uses a processor for this amount of processor time. */
  private static void compute() {
    final long until = THREADS.getCurrentThreadCpuTime() + COMPUTED_MICROS * 1_000;
    while (THREADS.getCurrentThreadCpuTime() < until) {
      Thread.yield();
    }
  }

  private static void computeElsewhere() throws InterruptedException {
    final Thread other = new Thread(AttemptTimesTest::compute);
    other.start();
    other.join();
  }

  @Test
  public void allThreadsOfASeparateProcessCount() throws Exception {
    final AttemptTimes times = new AttemptTimes(true);
    final long before = times.read().cpuMicros;
    assertTrue("since the process began", before > 0);
    computeElsewhere();
    // Some systems count in hundredths of a second.
    assertTrue(times.read().cpuMicros >= before + COMPUTED_MICROS - 20_000);
  }

  @Test
  public void theTasksThreadOfASharedProcessCountsFromTheTasksStart() throws Exception {
    compute();
    final AttemptTimes times = new AttemptTimes(false);
    computeElsewhere();
    assertTrue(times.read().cpuMicros < COMPUTED_MICROS);
    compute();
    final long cpuMicros = times.read().cpuMicros;
    assertTrue(cpuMicros >= COMPUTED_MICROS && cpuMicros < 2 * COMPUTED_MICROS);
  }

  @Test
  public void totalsNeverDecrease() {
    for (boolean ownsProcess : new boolean[] {true, false}) {
      final AttemptTimes times = new AttemptTimes(ownsProcess);
      final TimeUse before = times.read();
      compute();
      final TimeUse after = times.read();
      assertTrue(after.cpuMicros >= before.cpuMicros);
      assertTrue(after.processorWaitMicros >= before.processorWaitMicros);
      assertTrue(after.memoryWaitMicros >= before.memoryWaitMicros);
    }
  }

  @Test
  public void valuesMissingInHadoopAreUnknown() {
    final TimeUse time = new AttemptTimes(true).read();
    assertEquals(-1, time.schedulerWaitMicros);
    assertEquals(-1, time.networkWaitMicros);
    assertEquals(-1, time.ioWaitMicros);
    assertEquals(-1, time.networkBytes);
    assertEquals(-1, time.ioBytes);
  }

  @Test
  public void theWaitForAProcessorIsReportedOnLinux() {
    assumeTrue(Files.isReadable(Paths.get("/proc/thread-self/schedstat")));
    assertTrue(new AttemptTimes(true).read().processorWaitMicros >= 0);
    assertTrue(new AttemptTimes(false).read().processorWaitMicros >= 0);
  }
}
