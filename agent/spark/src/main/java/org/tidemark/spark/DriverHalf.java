package org.tidemark.spark;

import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.guard.Reasons;

/** Reports the application, its stages and their tasks ({@link ApplicationListener}). */
final class DriverHalf implements DriverPlugin {
  /**
   * The connector has a separate queue, so that it neither waits for Spark's listeners nor delays
   * them.
   */
  static final String QUEUE = "tidemark";

  private final Log log = Settings.newLog();
  private final Guard guard = new Guard(log);
  /** Null if nothing is reported. */
  private ApplicationListener listener;

  @Override
  public Map<String, String> init(SparkContext context, PluginContext plugin) {
    try {
      final Settings settings = settings(context);
      if (settings != null) {
        listener = new ApplicationListener(context, settings, log, guard);
        context.listenerBus().addToQueue(listener, QUEUE);
        return settings.toExecutors();
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
    return Collections.emptyMap();
  }

  /**
   * Receives the output size of a map task for each partition from {@link ExecutorHalf}. Sends no
   * answer.
   */
  @Override
  public Object receive(Object message) {
    try {
      if (listener != null && message instanceof long[]) {
        listener.written().add((long[]) message);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
    return null;
  }

  /** Called after the listener has received all events. */
  @Override
  public void shutdown() {
    try {
      if (listener != null) {
        listener.close();
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  private Settings settings(SparkContext context) {
    try {
      return Settings.of(context.conf()::get, Collections.emptyMap());
    } catch (IllegalArgumentException | IOException wrong) {
      log.warn(
          "cannot report progress: "
              + Reasons.of(wrong)
              + "; the application itself is not affected");
      return null;
    }
  }
}
