package org.tidemark.jvm.profile;

import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;

/** Measures the processor time of all threads of this process since its start. */
public final class ProcessorTime {
  private ProcessorTime() {}

  /** Returns a negative number if the time is unknown. Never throws. */
  public static long ofProcessNanos() {
    try {
      final OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
      return system instanceof com.sun.management.OperatingSystemMXBean
          ? ((com.sun.management.OperatingSystemMXBean) system).getProcessCpuTime()
          : -1;
    } catch (LinkageError | RuntimeException unavailable) {  // some JVMs lack it
      return -1;
    }
  }
}
