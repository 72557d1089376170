package org.tidemark.hadoop;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.security.Credentials;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.transport.Endpoint;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.transport.Source;

/**
 * The connection of this process to the master for one job. All plug-ins of the job in this process
 * (local mode, uber mode) share it.
 */
final class Link {
  private static final Map<String, Sender> OPEN = new HashMap<>();
  private static final String IS_UBER = "mapreduce.task.uberized";
  private static final String PROCESS = UUID.randomUUID().toString();

  private Link() {}

  /**
   * Returns the sender for a job, or null if the configuration names no master or turns the
   * connector off.
   */
  static synchronized Sender of(Configuration conf, Credentials credentials, String jobId) {
    if (!conf.getBoolean(Keys.ENABLED, true)) {
      return null;
    }
    final Endpoint master = Endpoint.in(new Trimmed(conf), "tidemark", token(credentials));
    if (master == null) {
      return null;
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
   * Returns true if the job runs only in this process, without YARN. Hadoop sets the same framework
   * for the reduce task of an uber job.
   */
  static boolean isLocal(Configuration conf) {
    return MRConfig.LOCAL_FRAMEWORK_NAME.equals(
            conf.get(MRConfig.FRAMEWORK_NAME, MRConfig.LOCAL_FRAMEWORK_NAME))
        && !conf.getBoolean(IS_UBER, false);
  }

  /** Returns true if the process runs only one task attempt, so not in local or uber mode. */
  static boolean isOfOneAttempt(Configuration conf) {
    return !isLocal(conf) && !conf.getBoolean(IS_UBER, false);
  }

  /**
   * YARN never reuses an id, and all attempts of an application master have the same id. The ids of
   * local jobs begin with a random number that may repeat.
   */
  private static String runUid(Configuration conf, String jobId) {
    return isLocal(conf) ? jobId + "-" + PROCESS : jobId;
  }

  /** Returns the longest wait for the delivery of the last events. */
  static long finalWaitNanos(Configuration conf, long nanosByDefault) {
    final long millis = conf.getLong(Keys.FINAL_WAIT_MILLIS, -1);
    return millis < 0 ? nanosByDefault : TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** This is a class because a process takes longer to link lambdas than to load a class. */
  private static final class Trimmed implements UnaryOperator<String> {
    private final Configuration conf;

    Trimmed(Configuration conf) {
      this.conf = conf;
    }

    @Override
    public String apply(String key) {
      return conf.getTrimmed(key, "");
    }
  }

  private static String token(Credentials credentials) {
    final byte[] token = credentials.getSecretKey(new Text(Keys.TOKEN));
    return token == null ? "" : new String(token, StandardCharsets.UTF_8).trim();
  }

  /** Ends the connection of a job. Waits at most {@code budgetNanos} for unsent events. */
  static void close(String jobId, long budgetNanos) {
    final Sender sender;
    synchronized (Link.class) {
      sender = OPEN.remove(jobId);
    }
    if (sender != null) {
      sender.stop(budgetNanos);
    }
  }

  // YARN names the container of a process. Looking up the host name on the task's thread could take
  // long.
  private static String sourceId() {
    final String container = System.getenv("CONTAINER_ID");
    return (container == null ? "local" : container) + "-" + UUID.randomUUID();
  }
}
