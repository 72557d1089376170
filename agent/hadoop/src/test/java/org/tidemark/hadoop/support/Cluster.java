package org.tidemark.hadoop.support;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * A real Hadoop on this machine, built from the artefacts on the class path. It has a name node, a
 * data node, a resource manager, two node managers and a job history server. Each is a process with
 * a small heap, on free ports of the loopback interface. The connector is on no daemon's class
 * path, since the job must bring the connector, as it does for users.
 */
public final class Cluster implements AutoCloseable {
  private static final int NODE_MANAGERS = 2;
  private static final int LOG_END_BYTES = 4_000;
  private static final int FIRST_PORT = 10_000;
  // The default on Linux. net.ipv4.ip_local_port_range may contain another value.
  private static final int FIRST_EPHEMERAL_PORT = 32_768;
  // Opens internals that Hadoop uses. Hadoop 3.4 sets this option itself, but only for containers.
  private static final String OPENS = "--add-opens=java.base/java.lang=ALL-UNNAMED";
  private static final String[] SMALL_JVM = {
    "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", OPENS
  };

  private static final String SMALL_TASK =
      "-Xmx160m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 " + OPENS;

  private final File directory;
  private final String libraries;
  private final Map<String, Process> daemons = new LinkedHashMap<>();
  private final Map<String, String> settings = new LinkedHashMap<>();

  private Cluster(File directory) {
    this.directory = directory;
    libraries = hadoopLibraries();
  }

  public static Cluster start(File directory) throws Exception {
    return start(directory, Collections.emptyMap());
  }

  /** Starts a cluster with additional settings. */
  public static Cluster start(File directory, Map<String, String> others) throws Exception {
    final Cluster cluster = new Cluster(directory);
    // Maven may end this process without ending its child processes.
    Runtime.getRuntime().addShutdownHook(new Thread(cluster::close));
    try {
      cluster.configure();
      cluster.settings.putAll(others);
      cluster.startDaemons();
      cluster.waitUntilReady();
      return cluster;
    } catch (Exception | Error failed) {
      cluster.close();
      throw failed;
    }
  }

  /** Returns a folder of settings for HADOOP_CONF_DIR. */
  public File clientConf() {
    return new File(directory, "conf-client");
  }

  /** Returns a class path with the Hadoop artefacts, without the connector. */
  public static String hadoopLibraries() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.endsWith(".jar") && !new File(entry).getName().startsWith("tidemark-"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** Returns the settings of a client of the cluster. */
  public Configuration conf() {
    final Configuration conf = new Configuration();
    settings.forEach(conf::set);
    return conf;
  }

  /**
   * Returns a daemon, such as namenode, datanode, resourcemanager, historyserver or nodemanager1.
   */
  public Process daemon(String name) {
    return daemons.get(name);
  }

  /** Returns the processes of node managers whose command line contains this word. */
  public List<ProcessHandle> containers(String word) {
    return ProcessHandle.allProcesses()
        .filter(
            process -> {
              final String line = process.info().commandLine().orElse("");
              return line.contains(directory + "/nodemanager") && line.contains(word);
            })
        .collect(Collectors.toList());
  }

  @Override
  public void close() {
    final List<Process> last = new ArrayList<>(daemons.values());
    last.forEach(Process::destroy);
    for (Process process : last) {
      try {
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      } catch (InterruptedException giveUp) {
        process.destroyForcibly();
      }
    }
    // Ends the processes of a node manager that was killed.
    containers("").forEach(ProcessHandle::destroyForcibly);
  }

  private void configure() throws IOException {
    final int[] ports = freePorts(10);
    final String here = "127.0.0.1:";
    settings.put("fs.defaultFS", "hdfs://" + here + ports[0]);
    settings.put("hadoop.tmp.dir", directory + "/tmp");
    settings.put("dfs.namenode.http-address", here + ports[1]);
    settings.put("dfs.datanode.address", here + 0);
    settings.put("dfs.datanode.http.address", here + 0);
    settings.put("dfs.datanode.ipc.address", here + 0);
    settings.put("dfs.replication", "1");
    settings.put("dfs.permissions.enabled", "false");
    settings.put("yarn.resourcemanager.hostname", "127.0.0.1");
    settings.put("yarn.resourcemanager.address", here + ports[2]);
    settings.put("yarn.resourcemanager.scheduler.address", here + ports[3]);
    settings.put("yarn.resourcemanager.resource-tracker.address", here + ports[4]);
    settings.put("yarn.resourcemanager.admin.address", here + ports[5]);
    settings.put("yarn.resourcemanager.webapp.address", here + ports[6]);
    settings.put("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", "200");
    settings.put("yarn.nodemanager.hostname", "127.0.0.1");
    settings.put("yarn.nodemanager.address", here + 0);
    settings.put("yarn.nodemanager.localizer.address", here + 0);
    settings.put("yarn.nodemanager.webapp.address", here + 0);
    settings.put("yarn.nodemanager.aux-services", "mapreduce_shuffle");
    settings.put("yarn.nodemanager.resource.memory-mb", "1024");
    settings.put("yarn.nodemanager.vmem-check-enabled", "false");
    settings.put("yarn.nodemanager.disk-health-checker.enable", "false");
    // Each start checks the disk even if the health checker is disabled.
    settings.put(
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "100");
    settings.put("yarn.node-attribute.fs-store.root-dir", "file://" + directory + "/attributes");
    settings.put("yarn.scheduler.minimum-allocation-mb", "128");
    settings.put("yarn.scheduler.capacity.root.queues", "default");
    settings.put("yarn.scheduler.capacity.root.default.capacity", "100");
    settings.put("yarn.scheduler.capacity.maximum-am-resource-percent", "0.5");
    settings.put("yarn.application.classpath", libraries.replace(File.pathSeparatorChar, ','));
    settings.put("yarn.nm.liveness-monitor.expiry-interval-ms", "10000");
    settings.put("yarn.app.mapreduce.am.staging-dir", "/staging");
    settings.put("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "200");
    settings.put("yarn.app.mapreduce.am.resource.mb", "384");
    settings.put(
        "yarn.app.mapreduce.am.command-opts",
        String.join(" ", SMALL_JVM));
    settings.put("mapreduce.framework.name", "yarn");
    settings.put("mapreduce.client.progressmonitor.pollinterval", "200");
    settings.put("mapreduce.client.completion.pollinterval", "200");
    settings.put("mapreduce.jobhistory.address", here + ports[7]);
    settings.put("mapreduce.jobhistory.webapp.address", here + ports[8]);
    settings.put("mapreduce.jobhistory.admin.address", here + ports[9]);
    settings.put("mapreduce.application.classpath", "$PWD/*");
    // The default of this setting is in mapred-default.xml, which is read after yarn-site.xml.
    settings.put("mapreduce.shuffle.port", "0");
    settings.put("mapreduce.map.memory.mb", "256");
    settings.put("mapreduce.reduce.memory.mb", "256");
    settings.put("mapreduce.map.java.opts", SMALL_TASK);
    settings.put("mapreduce.reduce.java.opts", SMALL_TASK);
    settings.put("mapreduce.task.io.sort.mb", "16");
  }

  private void startDaemons() throws IOException, InterruptedException {
    start("format", conf("client"), "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format")
        .waitFor();
    daemon("namenode", "org.apache.hadoop.hdfs.server.namenode.NameNode");
    daemon("datanode", "org.apache.hadoop.hdfs.server.datanode.DataNode");
    daemon("resourcemanager", "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager");
    daemon("historyserver", "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer");
    for (int i = 1; i <= NODE_MANAGERS; ++i) {
      daemon("nodemanager" + i, "org.apache.hadoop.yarn.server.nodemanager.NodeManager");
    }
  }

  private void daemon(String name, String mainClass) throws IOException {
    daemons.put(name, start(name, conf(name), mainClass));
  }

  private Process start(String name, File conf, String... command) throws IOException {
    final List<String> words = new ArrayList<>();
    words.add(System.getProperty("java.home") + "/bin/java");
    words.addAll(Arrays.asList(SMALL_JVM));
    words.add("-Djava.io.tmpdir=" + directory);
    words.add("-cp");
    words.add(conf + File.pathSeparator + libraries);
    words.addAll(Arrays.asList(command));
    return new ProcessBuilder(words)
        .directory(directory)
        .redirectErrorStream(true)
        .redirectOutput(new File(directory, name + ".log"))
        .start();
  }

  /** Returns the settings folder of one daemon. */
  private File conf(String name) throws IOException {
    final File folder = new File(directory, "conf-" + name);
    // The name node requires these folders. Hadoop's archives have pages in them, but its artefacts
    // do not.
    for (String pages : new String[] {"hdfs", "datanode", "static"}) {
      Files.createDirectories(new File(folder, "webapps/" + pages).toPath());
    }
    final Map<String, String> own = new LinkedHashMap<>(settings);
    own.put("yarn.nodemanager.local-dirs", directory + "/" + name + "/local");
    own.put("yarn.nodemanager.log-dirs", directory + "/" + name + "/logs");
    Settings.write(folder, own);
    return folder;
  }

  private void waitUntilReady() throws Exception {
    final long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(8);
    while (!hasAllNodes()) {
      for (Map.Entry<String, Process> daemon : daemons.entrySet()) {
        if (!daemon.getValue().isAlive()) {
          throw new IOException(daemon.getKey() + " ended:\n" + lastWords(daemon.getKey()));
        }
      }
      if (System.nanoTime() > deadline) {
        throw new IOException(
            "the cluster is not ready in time:\n" + lastWords("resourcemanager"));
      }
      Thread.sleep(500);
    }
    new Path("/").getFileSystem(conf()).mkdirs(new Path("/staging"));
  }

  private String lastWords(String name) throws IOException {
    final byte[] log = Files.readAllBytes(new File(directory, name + ".log").toPath());
    final int from = Math.max(0, log.length - LOG_END_BYTES);
    return new String(log, from, log.length - from, StandardCharsets.UTF_8);
  }

  private boolean hasAllNodes() {
    final String address = settings.get("yarn.resourcemanager.webapp.address");
    try (InputStream in =
        new URL("http://" + address + "/ws/v1/cluster/metrics").openStream()) {
      final String metrics =
          new String(IOUtils.toByteArray(in), StandardCharsets.UTF_8);
      return metrics.contains("\"activeNodes\":" + NODE_MANAGERS);
    } catch (IOException notYet) {
      return false;
    }
  }

  /**
   * Returns ports outside the ephemeral range. An ephemeral port could be taken before its daemon
   * starts.
   */
  private static int[] freePorts(int count) {
    return new Random()
        .ints(FIRST_PORT, FIRST_EPHEMERAL_PORT)
        .distinct()
        .filter(Cluster::isFree)
        .limit(count)
        .toArray();
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException taken) {
      return false;
    }
  }
}
