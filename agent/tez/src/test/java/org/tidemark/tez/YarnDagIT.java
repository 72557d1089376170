package org.tidemark.tez;

import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.tez.examples.ExampleDriver;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.support.Client;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.jvm.support.FaultyMaster;
import org.tidemark.jvm.support.Fields;
import org.tidemark.jvm.support.LogReader;
import org.tidemark.jvm.support.Master;
import org.tidemark.tez.support.DagLog;
import org.tidemark.tez.support.TezSite;

/** Tests DAGs on YARN with a real master, and faults of the master and the application master. */
public class YarnDagIT {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  private static final long SUCCEEDED = 1;
  private static final int ATTEMPT_CHANGED = 5;
  private static final Path WORDS = new Path("/words");

  private static Cluster cluster;
  private static FileSystem files;
  private static Client client;
  private static String[] expected;
  private static int outputs;

  @BeforeClass
  public static void start() throws Exception {
    cluster = Cluster.start(FILES.newFolder("cluster"));
    TezSite.write(cluster.clientConf());
    final Configuration conf = cluster.conf();
    files = WORDS.getFileSystem(conf);
    final Random random = new Random(7);
    final StringBuilder text = new StringBuilder();
    while (text.length() < 2_000_000) {
      text.append("w").append(random.nextInt(3_000)).append(text.length() % 10 == 0 ? '\n' : ' ');
    }
    try (FSDataOutputStream out = files.create(WORDS)) {
      out.write(text.toString().getBytes(StandardCharsets.UTF_8));
    }
    client =
        new Client(
            FILES.newFolder("client").toPath(), cluster.clientConf(), Cluster.hadoopLibraries());
    final String output = nextOutput();
    final Client.Ended plain = client.plain(example(count(output)));
    System.out.printf("without the connector: %.1f s%n", plain.seconds);
    assertEquals(plain.err, 0, plain.exitCode);
    expected = lines(output);
    assertTrue(expected.length > 1_000);
  }

  @AfterClass
  public static void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
  }

  private static String nextOutput() {
    return "/out" + ++outputs;
  }

  /** Returns the command that runs an example of Tez. */
  private static String[] example(String... words) {
    final String jar =
        ExampleDriver.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return Stream.concat(Stream.of(client.program(), "jar", jar), Stream.of(words))
        .toArray(String[]::new);
  }

  /** Runs an example of Tez with `tidemark run tez -o jsonl OPTION...`. */
  private static Client.Ended watched(List<String> options, String... words) throws Exception {
    final List<String> all = new ArrayList<>(Arrays.asList("-o", "jsonl"));
    all.addAll(options);
    return client.watched(
        "tez", System.getProperty("tidemark.jar"), all, Arrays.asList(example(words)));
  }

  private static String[] count(String output) {
    return new String[] {"orderedwordcount", WORDS.toString(), output, "4"};
  }

  /** Returns the lines of the output in order, since words with equal counts have no order. */
  private static String[] lines(String output) throws Exception {
    final StringBuilder all = new StringBuilder();
    for (FileStatus part : files.listStatus(new Path(output))) {
      final byte[] bytes = new byte[(int) part.getLen()];
      try (FSDataInputStream in = files.open(part.getPath())) {
        in.readFully(bytes);
      }
      all.append(new String(bytes, StandardCharsets.UTF_8));
    }
    final String[] lines = all.toString().split("\n");
    Arrays.sort(lines);
    return lines;
  }

  /** Runs a DAG with a master at this address, and checks its output. */
  private static void check(String what, String master) throws Exception {
    final String output = nextOutput();
    final Client.Ended watched = watched(Arrays.asList("--master", master), count(output));
    System.out.printf("%s: %.1f s%n", what, watched.seconds);
    assertEquals(watched.err, 0, watched.exitCode);
    assertArrayEquals(expected, lines(output));
  }

  /** Waits until attempts of a DAG have been reported. Returns the id of the DAG. */
  private static String awaitAttempts(Master master, int count) throws Exception {
    while (true) {
      for (String id : master.jobs()) {
        final int[] changes = {0};
        LogReader.read(
            master.logSoFar(id),
            (source, event) ->
                changes[0] +=
                    new Fields(event).has(ATTEMPT_CHANGED) ? 1 : 0);
        if (changes[0] >= count) {
          return id;
        }
      }
      Thread.sleep(100);
    }
  }

  private static Thread soon(Fault fault) {
    final Thread thread =
        new Thread(
            () -> {
              try {
                fault.strike();
              } catch (Exception ended) {
                // The test has ended.
              }
            });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private interface Fault {
    void strike() throws Exception;
  }

  @Test
  public void aDagIsReportedWithItsContainers() throws Exception {
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      check("with a master", master.address);
      assertEquals(1, master.jobs().size());
      final DagLog log = DagLog.of(master, master.jobs().iterator().next());
      assertEquals(SUCCEEDED, log.outcome);
      assertEquals(0, log.refusals);
      assertEquals(3, log.verticesBeforeFirstEnd);
      assertEquals(
          files.getFileStatus(WORDS).getLen(),
          Arrays.stream(log.vertices.get("Tokenizer").varints(11)).sum());
      assertEquals(log.vertices.get("Tokenizer").value(8) + 5, log.finished.size());
      assertTrue("containers are reused", log.containers.size() < log.finished.size());
      assertFalse(log.containers.isEmpty());
    }
  }

  @Test
  public void aCommandHasABarAndKeepsItsOutput() throws Exception {
    final String output = nextOutput();
    final Client.Ended watched = watched(Collections.emptyList(), count(output));
    assertEquals(watched.err, 0, watched.exitCode);
    assertArrayEquals(expected, lines(output));
    assertThat(watched.err, containsString("\"engine\":\"tez\""));
    assertThat(watched.err, containsString("JOB_STATE_SUCCEEDED"));
    assertThat(watched.err, containsString("OrderedWordCount"));
  }

  @Test
  public void theDagsOfASessionAreOneWorkflow() throws Exception {
    final Client.Ended watched =
        watched(
            Collections.emptyList(),
            "simplesessionexample",
            WORDS + "," + WORDS,
            nextOutput() + "," + nextOutput(),
            "2");
    assertEquals(watched.err, 0, watched.exitCode);
    assertThat(watched.err, containsString("JOB_KIND_WORKFLOW"));
    assertThat(watched.err, containsString("\"finished_child_count\":2"));
  }

  @Test
  public void aFailingDagFailsInTheSameWayAsWithoutTheConnector() throws Exception {
    final Client.Ended plain = client.plain(example("orderedwordcount", "/no/such", nextOutput()));
    final Client.Ended watched =
        watched(Collections.emptyList(), "orderedwordcount", "/no/such", nextOutput());
    assertTrue(plain.exitCode != 0);
    assertEquals(plain.exitCode, watched.exitCode);
    assertThat(watched.err, containsString("JOB_STATE_FAILED"));
  }

  @Test
  public void anAbsentMasterDoesNotAffectTheDag() throws Exception {
    check("absent", FaultyMaster.absent());
  }

  @Test
  public void aFullMasterDoesNotAffectTheDag() throws Exception {
    try (FaultyMaster full = FaultyMaster.full()) {
      check("full", full.address);
    }
  }

  @Test
  public void invalidResponsesDoNotAffectTheDag() throws Exception {
    try (FaultyMaster odd = FaultyMaster.garbage()) {
      check("garbage", odd.address);
    }
  }

  @Test
  public void aMasterMayBeKilledDuringTheDag() throws Exception {
    final Master master = Master.start(FILES.newFolder().toPath());
    final Thread killer =
        soon(
            () -> {
              awaitAttempts(master, 2);
              master.kill();
            });
    check("master killed", master.address);
    killer.join();
  }

  @Test
  public void aSlowMasterDoesNotAffectTheDag() throws Exception {
    try (FaultyMaster slow = FaultyMaster.slow()) {
      check("slow", slow.address);
    }
  }

  @Test
  public void aNewApplicationMasterContinuesTheDag() throws Exception {
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      final Thread killer =
          soon(
              () -> {
                awaitAttempts(master, 6);
                cluster.containers("DAGAppMaster").forEach(ProcessHandle::destroyForcibly);
              });
      check("application master killed", master.address);
      killer.join();
      assertEquals(1, master.jobs().size());
      final DagLog log = DagLog.of(master, master.jobs().iterator().next());
      assertEquals(SUCCEEDED, log.outcome);
      assertEquals(0, log.refusals);
    }
  }
}
