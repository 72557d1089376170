package org.tidemark.hadoop;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.security.Credentials;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.transport.Endpoint;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.transport.Source;
import org.tidemark.jvm.transport.Tls;

/**
 * This process's connection to the master about one job. Plug-ins of one job in one process (local
 * mode, uber mode) share it.
 */
final class Link {
  private static final Map<String, Sender> OPEN = new HashMap<>();
  private static final String IS_UBER = "mapreduce.task.uberized";
  private static final String PROCESS = UUID.randomUUID().toString();

  private Link() {}

  /** The sender for a job; null when the configuration names no master or turns us off. */
  static synchronized Sender of(Configuration conf, Credentials credentials, String jobId) {
    final String address = conf.getTrimmed(Keys.MASTER, "");
    if (address.isEmpty() || !conf.getBoolean(Keys.ENABLED, true)) {
      return null;
    }
    final Endpoint master = Endpoint.of(address, token(credentials), tls(conf));
    if (master == null) {
      throw new IllegalArgumentException(
          Keys.MASTER
              + " is not HOST:PORT, with an IPv6 address in brackets ([::1]:7411): "
              + address);
    }
    Sender sender = OPEN.get(jobId);
    if (sender == null) {
      sender =
          new Sender(
              master,
              new Source("tidemark-hadoop", sourceId(), jobId, runUid(conf, jobId)),
              Sender.TASK_BUFFER_BYTES_MAX,
              new MeterSettings(),
              TaskLog.LOG,
              Connector.GUARD);
      OPEN.put(jobId, sender);
    }
    return sender;
  }

  /**
   * Whether the job runs in this process alone, without YARN. Hadoop names the same framework to
   * the reduce task of an uber job.
   */
  static boolean isLocal(Configuration conf) {
    return MRConfig.LOCAL_FRAMEWORK_NAME.equals(
            conf.get(MRConfig.FRAMEWORK_NAME, MRConfig.LOCAL_FRAMEWORK_NAME))
        && !conf.getBoolean(IS_UBER, false);
  }

  /** Whether a process runs one task attempt and nothing else: neither local nor uber mode. */
  static boolean isOfOneAttempt(Configuration conf) {
    return !isLocal(conf) && !conf.getBoolean(IS_UBER, false);
  }

  /**
   * YARN gives no id twice and every attempt of an application master the same one; ids of local
   * jobs begin with a random number that may come again.
   */
  private static String runUid(Configuration conf, String jobId) {
    return isLocal(conf) ? jobId + "-" + PROCESS : jobId;
  }

  private static String token(Credentials credentials) {
    final byte[] token = credentials.getSecretKey(new Text(Keys.TOKEN));
    return token == null ? "" : new String(token, StandardCharsets.UTF_8).trim();
  }

  /** Null: none. */
  private static Tls tls(Configuration conf) {
    final File authorities = file(conf, Keys.TLS_CA);
    return authorities == null
        ? null
        : new Tls(
            authorities,
            file(conf, Keys.TLS_CERTIFICATE),
            file(conf, Keys.TLS_KEY),
            conf.getTrimmed(Keys.TLS_SERVER_NAME, ""));
  }

  private static File file(Configuration conf, String key) {
    final String name = conf.getTrimmed(key, "");
    return name.isEmpty() ? null : new File(name);
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

  // YARN says which container a process is. The name of the host would have to be looked up, which
  // can take long, on the task's thread.
  private static String sourceId() {
    final String container = System.getenv("CONTAINER_ID");
    return (container == null ? "local" : container) + "-" + UUID.randomUUID();
  }
}
