package org.tidemark.jvm.profile;

import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;

/** How long processors have worked for this process, all its threads together, since it began. */
public final class ProcessorTime {
  private ProcessorTime() {}

  /** Below zero: not known. Nothing is thrown. */
  public static long ofProcessNanos() {
    try {
      final OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
      return system instanceof com.sun.management.OperatingSystemMXBean
          ? ((com.sun.management.OperatingSystemMXBean) system).getProcessCpuTime()
          : -1;
    } catch (LinkageError | RuntimeException notTold) { // not every Java has it
      return -1;
    }
  }
}
