package org.tidemark.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Reports the progress of an application to a master of Tidemark. Set it in spark.plugins, after
 * other plug-ins, together with spark.tidemark.master; see docs/spark.md.
 *
 * <p>Spark creates one instance in its driver and one in each executor. The plug-in never fails an
 * application. An exception in either half turns that half off.
 */
public final class TidemarkPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    try {
      return new DriverHalf();
    } catch (Throwable ours) {
      return null;  // A null value makes Spark ignore this plug-in.
    }
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    try {
      return new ExecutorHalf();
    } catch (Throwable ours) {
      return null;
    }
  }
}
