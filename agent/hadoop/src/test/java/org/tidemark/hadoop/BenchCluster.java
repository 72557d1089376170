package org.tidemark.hadoop;

import static org.junit.Assume.assumeTrue;

import java.io.File;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.Test;
import org.tidemark.hadoop.jobs.Driver;
import org.tidemark.hadoop.jobs.FaultyWords;
import org.tidemark.hadoop.jobs.InvertedIndex;
import org.tidemark.hadoop.jobs.Ordinary;
import org.tidemark.hadoop.jobs.TwoPath;
import org.tidemark.hadoop.support.Client;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.JobJar;

/**
 * Not a test. Runs a cluster for bench/hadoop/ in the folder tidemark.bench, with the settings
 * tidemark.bench.settings. Copies the folder `inputs` to /inputs, writes the file `ready`, and ends
 * when a file `stop` exists.
 */
public class BenchCluster {
  @Test
  public void runsUntilStopped() throws Exception {
    final String name = System.getProperty("tidemark.bench", "");
    assumeTrue(!name.isEmpty());
    final File folder = new File(name);
    final Map<String, String> settings = new HashMap<>();
    for (String setting : System.getProperty("tidemark.bench.settings", "").split(" ")) {
      final String[] pair = setting.split("=", 2);
      if (pair.length == 2) {
        settings.put(pair[0], pair[1]);
      }
    }
    try (Cluster cluster = Cluster.start(new File(folder, "cluster"), settings)) {
      final Configuration conf = cluster.conf();
      final FileSystem files = new Path("/").getFileSystem(conf);
      files.copyFromLocalFile(new Path("file://" + folder + "/inputs"), new Path("/inputs"));
      final Client client =
          new Client(folder.toPath(), cluster.clientConf(), Cluster.hadoopLibraries());
      final String jobs =
          JobJar.of(
              new File(folder, "jobs.jar"),
              Driver.class,
              TwoPath.class,
              InvertedIndex.class,
              FaultyWords.class,
              Ordinary.class);
      try (PrintStream ready = new PrintStream(new File(folder, "ready.part"), "UTF-8")) {
        ready.println("hadoop " + client.program());
        ready.println("conf " + cluster.clientConf());
        ready.println("jobs " + jobs);
        ready.println("examples " + Client.examples());
        ready.println("streaming " + Client.streaming());
        ready.println("web http://" + conf.get("yarn.resourcemanager.webapp.address"));
        ready.println("past http://" + conf.get("mapreduce.jobhistory.webapp.address"));
      }
      if (!new File(folder, "ready.part").renameTo(new File(folder, "ready"))) {
        throw new IllegalStateException("cannot say that the cluster is ready");
      }
      while (!new File(folder, "stop").exists()) {
        Thread.sleep(500);
      }
    }
  }
}
