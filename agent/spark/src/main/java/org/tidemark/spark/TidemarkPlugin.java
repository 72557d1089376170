package org.tidemark.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Tells a master of Tidemark how far an application is: set in spark.plugins, behind others if there
 * are some, with spark.tidemark.master. docs/spark.md says the rest.
 *
 * <p>Spark makes one for its driver and one for each executor. Nothing of ours ever fails an
 * application: what either half throws turns that half off.
 */
public final class TidemarkPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    try {
      return new DriverHalf();
    } catch (Throwable ours) {
      return null; // to Spark: there is none
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
