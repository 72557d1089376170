package org.tidemark.spark;

import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;

/**
 * Connects an application that runs without {@link TidemarkPlugin}. The package for Python creates
 * an instance through its own class loader (python/tidemark/spark.py). Executors do not report, so
 * the master receives the starts and ends of tasks, but neither their progress nor their waits.
 */
public final class Attachment {
  private final Log log = Settings.newLog();
  private final Guard guard = new Guard(log);

  /**
   * Reports the application from now on. {@code settings} override its settings. Throws
   * IllegalArgumentException or IOException for an invalid setting. Returns false if the settings
   * turn reports off.
   */
  public boolean attach(SparkContext context, Map<String, String> settings)
      throws IOException, ReflectiveOperationException {
    final Settings valid =
        Settings.of(
            (key, missing) ->
                settings.containsKey(key) ? settings.get(key) : context.conf().get(key, missing),
            Collections.emptyMap());
    if (valid == null) {
      return false;
    }
    final ApplicationListener listener = new ApplicationListener(context, valid, log, guard);
    listener.openRunning();
    context.listenerBus().addToQueue(listener, DriverHalf.QUEUE);
    // A queue calls its listeners in order. Without the plug-in, Spark reports no shutdown.
    context.listenerBus().addToQueue(new Closing(listener), DriverHalf.QUEUE);
    return true;
  }

  private final class Closing extends SparkListener {
    private final ApplicationListener listener;

    Closing(ApplicationListener listener) {
      this.listener = listener;
    }

    @Override
    public void onApplicationEnd(SparkListenerApplicationEnd ended) {
      try {
        listener.close();
      } catch (Throwable ours) {
        guard.turnOff(ours);
      }
    }
  }
}
