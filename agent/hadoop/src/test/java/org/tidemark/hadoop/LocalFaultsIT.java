package org.tidemark.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.BeforeClass;
import org.junit.Test;
import org.tidemark.hadoop.support.Client;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.Inputs;
import org.tidemark.hadoop.support.Jobs;
import org.tidemark.jvm.support.Certificates;
import org.tidemark.jvm.support.FaultyMaster;

/**
 * Tests that a faulty master never affects a short job's output or exit code. The fastest of
 * several runs is printed, since other load only adds time.
 */
public class LocalFaultsIT extends MasterFaults {
  private static final int RUNS = 3;

  private static Client client;
  private static String input;
  private static int outputs;
  private static byte[] expected;
  private static double secondsWithout = Double.MAX_VALUE;

  @BeforeClass
  public static void runWithout() throws Exception {
    final File folder = Client.localSettings(FILES.newFolder("settings"));
    client = new Client(FILES.newFolder("client").toPath(), folder, Cluster.hadoopLibraries());
    final File words = FILES.newFile("words");
    Files.write(words.toPath(), Inputs.words(4_000, 10).getBytes(StandardCharsets.UTF_8));
    input = words.getPath();
    for (int run = 0; run <= RUNS; ++run) {
      final String output = nextOutput();
      final Client.Ended plain = client.example("wordcount", input, output);
      assertEquals(plain.err, 0, plain.exitCode);
      expected = bytes(output);
      secondsWithout = Math.min(secondsWithout, plain.seconds);
    }
    System.out.printf("without the connector: %.2f s%n", secondsWithout);
  }

  private static String nextOutput() {
    return FILES.getRoot() + "/out" + ++outputs;
  }

  private static byte[] bytes(String output) throws Exception {
    return Jobs.output(new Configuration(), new Path("file://" + output));
  }

  @Override
  void check(String what, String master, Configuration further) throws Exception {
    double seconds = Double.MAX_VALUE;
    for (int run = 0; run < RUNS; ++run) {
      final String output = nextOutput();
      final Client.Ended ended =
          client.reportingExample(Jobs.measured(further, master), "wordcount", input, output);
      assertEquals(ended.err, 0, ended.exitCode);
      assertArrayEquals(expected, bytes(output));
      seconds = Math.min(seconds, ended.seconds);
    }
    System.out.printf("%s: %.2f s, %+.2f s%n", what, seconds, seconds - secondsWithout);
  }

  @Test
  public void aSlowHandshakeDoesNotDelayTheJob() throws Exception {
    final Configuration further = new Configuration(false);
    further.set(Keys.TLS_CA, new Certificates(FILES.newFolder()).authority().getPath());
    try (FaultyMaster slow = FaultyMaster.slow()) {
      check("slow, with TLS", slow.address, further);
    }
  }
}
