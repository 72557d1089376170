package org.tidemark.hadoop;

import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.CoreMatchers.not;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.support.Client;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.Inputs;
import org.tidemark.hadoop.support.Jobs;
import org.tidemark.jvm.support.Master;
import org.tidemark.jvm.support.FaultyMaster;

public class RunCommandIT {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  private static final List<String> JSON = Arrays.asList("-o", "jsonl");
  /** Makes the events of a job arrive however slow the machine is. */
  private static final String PATIENT = "-D" + Keys.FINAL_WAIT_MILLIS + "=60000";

  private static Client client;
  private static String input;

  @BeforeClass
  public static void prepare() throws Exception {
    final File settings = Client.localSettings(FILES.newFolder("settings"));
    client = new Client(FILES.newFolder("client").toPath(), settings, Cluster.hadoopLibraries());
    final File words = FILES.newFile("words");
    Files.write(words.toPath(), Inputs.words(4_000, 10).getBytes(StandardCharsets.UTF_8));
    input = words.getPath();
  }

  private static String output(String name) {
    return FILES.getRoot() + "/" + name;
  }

  private static byte[] bytes(String output) throws Exception {
    return Jobs.output(new Configuration(), new Path("file://" + output));
  }

  /** Returns the jobs whose last JSON line reports success. */
  private static Set<String> succeeded(String err) {
    final Set<String> jobs = new HashSet<>();
    for (String line : err.split("\n")) {
      final Matcher id = Pattern.compile("\"job_id\":\"([^\"]*)\"").matcher(line);
      if (line.contains("JOB_STATE_SUCCEEDED") && id.find()) {
        assertTrue("two final snapshots of " + id.group(1), jobs.add(id.group(1)));
      }
    }
    return jobs;
  }

  @Test
  public void theJobIsReportedAndKeepsItsResult() throws Exception {
    final String reduces = "-Dmapreduce.job.reduces=2";
    final Client.Ended plain = client.example("wordcount", reduces, input, output("plain"));
    assertEquals(plain.err, 0, plain.exitCode);
    final Client.Ended watched =
        client.watchedExample(JSON, "wordcount", PATIENT, reduces, input, output("watched"));
    assertEquals(watched.err, 0, watched.exitCode);
    assertEquals(plain.out, watched.out);
    assertArrayEquals(bytes(output("plain")), bytes(output("watched")));
    assertEquals(watched.err, 1, succeeded(watched.err).size());
    assertThat("the client's own words", watched.err, containsString("Running job: job_local"));
  }

  @Test
  public void aFailingJobFailsInTheSameWayAsWithoutTheConnector() throws Exception {
    final Client.Ended plain = client.example("wordcount", "/no/such", output("nothing"));
    final Client.Ended watched =
        client.watchedExample(JSON, "wordcount", "/no/such", output("nothing"));
    assertTrue(plain.exitCode != 0);
    assertEquals(plain.exitCode, watched.exitCode);
    assertThat(watched.err, containsString("Input path does not exist"));
  }

  /** The mapper expects another kind of file, so the job fails. */
  @Test
  public void aJobWithFailingTasksIsReportedAsFailed() throws Exception {
    final Client.Ended watched =
        client.watchedExample(JSON, "sort", PATIENT, "-r", "1", input, output("unsorted"));
    assertTrue(watched.exitCode != 0);
    assertThat(watched.err, containsString("JOB_STATE_FAILED"));
  }

  @Test
  public void bothJobsOfACommandAreOneWorkflowOfASharedMaster() throws Exception {
    try (Master master = Master.start(FILES.newFolder("logs").toPath())) {
      final Client.Ended watched =
          client.watchedExample(
              Arrays.asList("-o", "jsonl", "--master", master.address),
              "grep",
              PATIENT,
              input,
              output("grepped"),
              "w[0-9]*7");
      assertEquals(watched.err, 0, watched.exitCode);
      assertEquals(2, master.jobs().size());
      final Set<String> shown = succeeded(watched.err);
      shown.removeAll(master.jobs());
      assertEquals(watched.err, 1, shown.size());
      assertThat(shown.iterator().next(), containsString("hadoop"));
      assertThat(watched.err, containsString("\"finished_child_count\":2"));
    }
  }

  @Test
  public void aScriptIsOneWorkflowWhoseNextRunExpectsItsJobs() throws Exception {
    final File script = FILES.newFile("nightly.sh");
    final String jar = client.program() + " jar " + Client.examples();
    final String commands =
        "set -e\n"
            + jar + " wordcount " + PATIENT + " " + input + " $1/words\n"
            + jar + " grep " + PATIENT + " " + input + " $1/grepped 'w[0-9]*7'\n";
    Files.write(script.toPath(), commands.getBytes(StandardCharsets.UTF_8));
    final List<String> options =
        Arrays.asList("-o", "jsonl", "--data-dir", FILES.newFolder("history").getPath());
    for (int run = 1; run <= 2; ++run) {
      final Client.Ended watched =
          client.watched(
              System.getProperty("tidemark.jar"),
              options,
              Arrays.asList("bash", script.getPath(), output("run" + run)));
      assertEquals(watched.err, 0, watched.exitCode);
      final String[] snapshots =
          Arrays.stream(watched.err.split("\n"))
              .filter(line -> line.contains("\"kind\":\"JOB_KIND_WORKFLOW\""))
              .toArray(String[]::new);
      assertTrue(watched.err, snapshots.length > 0);
      final String last = snapshots[snapshots.length - 1];
      assertThat(last, containsString("JOB_STATE_SUCCEEDED"));
      assertThat(last, containsString("\"finished_child_count\":3"));
      assertThat(last, containsString("bash nightly.sh"));
      if (run == 2) {
        assertThat(snapshots[0], containsString("\"child_count\":3"));
        assertEquals(watched.err, 1, succeeded(watched.err).size());
      }
    }
  }

  @Test
  public void silenceOfTheConnectorIsReported() throws Exception {
    final Client.Ended watched =
        client.watchedExample(
            Arrays.asList("-o", "plain"),
            "wordcount",
            "-Dtidemark.enabled=false",
            input,
            output("silent"));
    assertEquals(watched.err, 0, watched.exitCode);
    assertThat(watched.err, containsString("no job has reported"));
  }

  /**
   * Runs a word count whose events do not arrive. Checks that the job succeeds and that the console
   * contains these words.
   */
  private static void checkOutput(String name, String master, File secrets, String... words)
      throws Exception {
    final List<String> arguments = new ArrayList<>(Arrays.asList("wordcount"));
    if (secrets != null) {
      arguments.add("-Dmapreduce.job.credentials.json=" + secrets);
    }
    arguments.addAll(Arrays.asList(input, output(name)));
    final Client.Ended watched =
        client.watchedExample(
            Arrays.asList("-o", "plain", "--master", master),
            arguments.toArray(new String[0]));
    assertEquals(watched.err, 0, watched.exitCode);
    for (String line : words) {
      assertThat(watched.err, containsString(line));
      assertEquals(watched.err, 2, watched.err.split(Pattern.quote(line), -1).length);
    }
  }

  @Test
  public void anExpiredTokenIsReportedOnceByTheTaskAndTheConsole() throws Exception {
    final String tokens = Master.tokens(FILES.newFile(), "*", "2f0d6b1c9e8a47d3");
    final File secrets = FILES.newFile();
    Files.write(
        secrets.toPath(),
        "{\"tidemark.token\": \"a-stale-token\"}".getBytes(StandardCharsets.US_ASCII));
    try (Master master = Master.start(FILES.newFolder("tokens").toPath(), tokens)) {
      checkOutput(
          "stale",
          master.address,
          secrets,
          "Tidemark: the master at " + master.address + " rejects events: UNAUTHENTICATED: ",
          "cannot show the jobs: the master at " + master.address + " requires a token");
    }
  }

  @Test
  public void anAbsentMasterIsReportedOnceByTheTaskAndTheConsole() throws Exception {
    final String absent = FaultyMaster.absent();
    checkOutput(
        "absent",
        absent,
        null,
        "Tidemark: the master at " + absent + " cannot be reached: ConnectException",
        "cannot show the jobs: no master answers at " + absent);
  }

  @Test
  public void aSilentMasterIsReportedByTheTaskAndDoesNotDelayTheCommand() throws Exception {
    try (FaultyMaster silent =
        FaultyMaster.with(
            (in, out) -> {
              while (in.read() >= 0) {}
            })) {
      final long start = System.nanoTime();
      checkOutput(
          "mute",
          silent.address,
          null,
          "Tidemark: the master at " + silent.address + " did not respond before this process ended");
      System.out.printf("beside a mute master: %.1f s%n", (System.nanoTime() - start) / 1e9);
    }
  }

  @Test
  public void anotherJarIsRejectedBeforeTheJobStarts() throws Exception {
    final Client.Ended refused =
        client.watchedExample(Client.examples(), JSON, "wordcount", input, output("never"));
    assertEquals(refused.err, 2, refused.exitCode);
    assertThat(refused.err, containsString("not Tidemark's connector"));
    assertThat(refused.err, not(containsString("Running job")));
  }
}
