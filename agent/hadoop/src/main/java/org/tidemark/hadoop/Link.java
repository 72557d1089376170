package org.tidemark.hadoop;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.tidemark.hadoop.profile.MeterSettings;
import org.tidemark.hadoop.transport.Sender;

/**
 * This process's connection to the master about one job. Plug-ins of one job in one process (local
 * mode, uber mode) share it.
 */
final class Link {
  private static final Map<String, Sender> OPEN = new HashMap<>();

  private Link() {}

  /** The sender for a job; null when the configuration names no master or turns us off. */
  static synchronized Sender of(Configuration conf, String jobId, String token) {
    final String master = conf.getTrimmed(Keys.MASTER, "");
    final int colon = master.lastIndexOf(':');
    if (colon <= 0 || !conf.getBoolean(Keys.ENABLED, true)) {
      return null;
    }
    Sender sender = OPEN.get(jobId);
    if (sender == null) {
      final int port = Integer.parseInt(master.substring(colon + 1));
      final String host = master.substring(0, colon);
      sender = new Sender(host, port, token, sourceId(), jobId, new MeterSettings());
      OPEN.put(jobId, sender);
    }
    return sender;
  }

  /** The job is over for this process. Waits at most so long for what is still unsent. */
  static void close(String jobId, long budgetNanos) {
    final Sender sender;
    synchronized (Link.class) {
      sender = OPEN.remove(jobId);
    }
    if (sender != null) {
      sender.stop(budgetNanos);
    }
  }

  // "pid@host" on every JVM we know of, and a random part for what that leaves open.
  private static String sourceId() {
    final String process = ManagementFactory.getRuntimeMXBean().getName();
    final String name = process.substring(0, Math.min(process.length(), 80));
    return name + "-" + UUID.randomUUID().toString().substring(0, 8);
  }
}
