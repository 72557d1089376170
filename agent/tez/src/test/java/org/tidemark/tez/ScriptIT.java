package org.tidemark.tez;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.support.Client;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.Scripts;
import org.tidemark.hadoop.support.YarnBars;
import org.tidemark.jvm.support.FaultyMaster;
import org.tidemark.tez.support.TezSite;

/** Tests a script of Pig on Tez with `tidemark run tez`. */
public class ScriptIT {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  private static Cluster cluster;
  private static Client client;

  @BeforeClass
  public static void start() throws Exception {
    cluster = Cluster.start(FILES.newFolder("cluster"));
    TezSite.write(cluster.clientConf());
    Scripts.writeWords(cluster.conf(), 6_000);
    client =
        new Client(
            FILES.newFolder("client").toPath(), cluster.clientConf(), Cluster.hadoopLibraries());
  }

  @AfterClass
  public static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  private static Client.Ended watch(List<String> options, File script, String output)
      throws Exception {
    final List<String> all = new ArrayList<>(Arrays.asList("-o", "jsonl"));
    all.addAll(options);
    final Client.Ended ended =
        client.watched(
            "tez",
            System.getProperty("tidemark.jar"),
            all,
            Arrays.asList("bash", script.getPath(), output));
    assertEquals(ended.err, 0, ended.exitCode);
    return ended;
  }

  /** Checks that the script keeps its output, and that its DAG has one bar from the beginning. */
  private static void check(String name, String commands) throws Exception {
    final File script = FILES.newFile(name + ".sh");
    Files.write(script.toPath(), ("set -e\n" + commands).getBytes(StandardCharsets.UTF_8));
    final Client.Ended plain = client.plain("bash", script.getPath(), "/plain-" + name);
    assertEquals(plain.err, 0, plain.exitCode);
    final String expected = Scripts.content(cluster.conf(), "/plain-" + name);
    assertTrue(expected, expected.length() > 20);

    final List<String> history = Arrays.asList("--data-dir", FILES.newFolder().getPath());
    final StringBuilder figures = new StringBuilder();
    for (String run : new String[] {"first", "second"}) {
      final String output = "/" + run + "-" + name;
      final YarnBars bars = new YarnBars(cluster.conf());
      final Client.Ended watched = watch(history, script, output);
      bars.close();
      assertEquals(expected, Scripts.content(cluster.conf(), output));
      final List<JsonNode> snapshots = snapshots(watched);
      final boolean isFirst = run.equals("first");
      final boolean hasPastRun =
          snapshots.stream()
              .anyMatch(
                  each -> each.get("estimate").path("basis").asText().equals("BASIS_EARLIER_RUNS"));
      assertEquals(watched.err, !isFirst, hasPastRun);
      figures.append(
          String.format(
              "; with a bar in the %s run %.0f s, mean error %.1f points, of Hadoop's bar %.1f",
              run,
              watched.seconds,
              100 * YarnBars.meanErrorOf(snapshots),
              100 * bars.meanError(snapshots)));
    }
    final Client.Ended absent =
        watch(Arrays.asList("--master", FaultyMaster.absent()), script, "/absent-" + name);
    assertEquals(expected, Scripts.content(cluster.conf(), "/absent-" + name));
    System.out.printf(
        "%s on Tez: %.0f s, with an absent master %.0f s%s%n",
        name, plain.seconds, absent.seconds, figures);
  }

  /** Returns the snapshots of the only DAG, which has all vertices from the beginning. */
  private static List<JsonNode> snapshots(Client.Ended watched) throws Exception {
    final List<JsonNode> snapshots = new ArrayList<>();
    for (String line : watched.err.split("\n")) {
      if (line.startsWith("{") && line.contains("\"engine\":\"tez\"")) {
        snapshots.add(new ObjectMapper().readTree(line));
      }
    }
    assertTrue(watched.err, snapshots.size() > 2);
    final JsonNode last = snapshots.get(snapshots.size() - 1);
    assertEquals("JOB_STATE_SUCCEEDED", last.get("state").asText());
    final int vertices = last.get("counts").get("stage_count").asInt();
    assertTrue(last.toString(), vertices > 2);
    for (JsonNode each : snapshots) {
      assertEquals("one DAG", last.get("job_id"), each.get("job_id"));
      assertEquals("all vertices", vertices, each.get("counts").get("stage_count").asInt());
      assertFalse(each.toString(), each.path("may_grow").asBoolean());
    }
    return snapshots;
  }

  @Test
  public void aScriptOfPigIsOneBar() throws Exception {
    check("pig", Scripts.pig(client, "tez", FILES.newFolder("pig-files")));
  }
}
