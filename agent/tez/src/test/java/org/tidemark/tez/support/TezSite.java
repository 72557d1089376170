package org.tidemark.tez.support;

import java.io.File;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.tidemark.hadoop.support.Scripts;
import org.tidemark.hadoop.support.Settings;

/** The settings of Tez on the cluster of the tests, whose class path has Tez, but no connector. */
public final class TezSite {
  private static final String SMALL_JVM =
      "-Xmx200m -XX:+UseSerialGC -XX:TieredStopAtLevel=1" + Scripts.opens();

  private TezSite() {}

  /** Adds a tez-site.xml to the folder for HADOOP_CONF_DIR. */
  public static void write(File conf) throws IOException {
    final Map<String, String> tez = new LinkedHashMap<>();
    tez.put("tez.ignore.lib.uris", "true");
    tez.put("tez.use.cluster.hadoop-libs", "true");
    tez.put("tez.staging-dir", "/staging");
    tez.put("tez.am.resource.memory.mb", "384");
    tez.put("tez.am.launch.cmd-opts", SMALL_JVM);
    tez.put("tez.task.resource.memory.mb", "256");
    tez.put("tez.task.launch.cmd-opts", SMALL_JVM.replace("200", "160"));
    tez.put("tez.am.am-rm.heartbeat.interval-ms.max", "250");
    tez.put("tez.am.heartbeat.interval-ms.max", "250");
    tez.put("tez.am.max.app.attempts", "2");
    tez.put("tez.runtime.io.sort.mb", "8");
    tez.put("tez.runtime.unordered.output.buffer.size-mb", "8");
    tez.put("mapreduce.input.fileinputformat.split.maxsize", "200000");
    tez.put("tez.grouping.min-size", "1");
    tez.put("tez.grouping.max-size", "200000");
    Settings.writeFile(new File(conf, "tez-site.xml"), tez);
  }
}
