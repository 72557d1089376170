package org.tidemark.hadoop;

import static org.hamcrest.CoreMatchers.containsString;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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
import org.tidemark.hadoop.support.Master;

/** `tidemark hadoop run -- hadoop jar ...`, with jobs that run within the client. */
public class RunCommandIT {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  private static final List<String> JSON = Arrays.asList("--progress", "json");

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

  /** The jobs whose last word in JSON is that they succeeded. */
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
  public void theJobIsShownAndDoesWhatItDoesWithout() throws Exception {
    final String reduces = "-Dmapreduce.job.reduces=2";
    final Client.Ended plain = client.example("wordcount", reduces, input, output("plain"));
    assertEquals(plain.err, 0, plain.exitCode);
    final Client.Ended watched =
        client.watchedExample(JSON, "wordcount", reduces, input, output("watched"));
    assertEquals(watched.err, 0, watched.exitCode);
    assertEquals(plain.out, watched.out);
    assertArrayEquals(bytes(output("plain")), bytes(output("watched")));
    assertEquals(watched.err, 1, succeeded(watched.err).size());
    assertThat("the client's own words", watched.err, containsString("Running job: job_local"));
  }

  @Test
  public void aJobThatFailsEndsAsItDoesWithout() throws Exception {
    final Client.Ended plain = client.example("wordcount", "/no/such", output("nothing"));
    final Client.Ended watched =
        client.watchedExample(JSON, "wordcount", "/no/such", output("nothing"));
    assertTrue(plain.exitCode != 0);
    assertEquals(plain.exitCode, watched.exitCode);
    assertThat(watched.err, containsString("Input path does not exist"));
  }

  @Test
  public void bothJobsOfACommandAreShownFromAMasterOfOthers() throws Exception {
    try (Master master = Master.start(FILES.newFolder("logs").toPath())) {
      final Client.Ended watched =
          client.watchedExample(
              Arrays.asList("--progress", "json", "--master", master.address),
              "grep",
              input,
              output("grepped"),
              "w[0-9]*7");
      assertEquals(watched.err, 0, watched.exitCode);
      assertEquals(watched.err, master.jobs(), succeeded(watched.err));
      assertEquals(2, master.jobs().size());
    }
  }

  @Test
  public void withoutAWordOfTheConnectorItSaysSo() throws Exception {
    final Client.Ended watched =
        client.watchedExample(
            Arrays.asList("--progress", "plain"),
            "wordcount",
            "-Dtidemark.enabled=false",
            input,
            output("silent"));
    assertEquals(watched.err, 0, watched.exitCode);
    assertThat(watched.err, containsString("no job has reported"));
  }
}
