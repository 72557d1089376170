package org.tidemark.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.support.EventLog;
import org.tidemark.hadoop.support.Inputs;
import org.tidemark.hadoop.support.Jobs;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.support.Certificates;
import org.tidemark.jvm.support.Master;
import org.tidemark.jvm.support.OddMaster;
import org.tidemark.jvm.transport.Endpoint;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.transport.Source;
import org.tidemark.jvm.transport.Tls;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.JobNews;

/**
 * Masters that want to know who reports, and of which a job wants to know who listens. Whether they
 * find together or not, the job writes what it writes without the connector.
 */
public class SecureMasterIT {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  private static final String TOKEN = "2f0d6b1c9e8a47d3";

  private static Certificates certificates;
  private static Certificates.Pair masters;
  private static Path input;
  private static byte[] expected;
  private static int outputs;

  private Configuration conf;

  @BeforeClass
  public static void prepare() throws Exception {
    certificates = new Certificates(FILES.newFolder("certificates"));
    masters = certificates.issue("master", "IP:127.0.0.1", "ec");
    final File words = FILES.newFile("words");
    Files.write(words.toPath(), Inputs.words(2_000, 10).getBytes(StandardCharsets.UTF_8));
    input = new Path(words.toURI());
    expected = run(Jobs.local(FILES.getRoot()));
  }

  @Before
  public void configure() {
    conf = Jobs.local(FILES.getRoot());
  }

  /** The output of word count. */
  private static byte[] run(Configuration settings) throws Exception {
    final Path output = new Path(new File(FILES.getRoot(), "out" + ++outputs).toURI());
    final JobConf made = (JobConf) Jobs.wordCount(settings, true).getConfiguration();
    final Job job = Jobs.prepared(made, input, output, 2);
    assertTrue("the job failed", job.waitForCompletion(false));
    return Jobs.output(settings, output);
  }

  private static Master master(Certificates.Pair shows, String... settings) throws Exception {
    final String[] all = new String[settings.length + 2];
    all[0] = "tls.certificate=" + shows.certificate;
    all[1] = "tls.key=" + shows.key;
    System.arraycopy(settings, 0, all, 2, settings.length);
    return Master.start(FILES.newFolder().toPath(), all);
  }

  private static String tokens() throws Exception {
    final File file = FILES.newFile();
    Files.write(
        file.toPath(), ("agent job_* " + TOKEN + "\n").getBytes(StandardCharsets.US_ASCII));
    return "tokens=" + file;
  }

  private void trust(Certificates signer) {
    conf.set(Keys.TLS_CA, signer.authority().getPath());
  }

  private void show(Certificates.Pair pair) {
    conf.set(Keys.TLS_CERTIFICATE, pair.certificate.getPath());
    conf.set(Keys.TLS_KEY, pair.key.getPath());
  }

  private void checkHeard(Master master) throws Exception {
    assertArrayEquals(expected, run(Jobs.measured(conf, master.address)));
    assertEquals(1, master.jobs().size());
    assertEquals(1, EventLog.of(master, master.jobs().iterator().next()).outcome);
  }

  private void checkUnheard(Master master) throws Exception {
    assertArrayEquals(expected, run(Jobs.measured(conf, master.address)));
    assertEquals(Collections.emptySet(), master.jobs());
  }

  @Test
  public void aJobReportsOverTls() throws Exception {
    trust(certificates);
    try (Master master = master(masters)) {
      checkHeard(master);
    }
  }

  @Test
  public void aMasterOfAnotherAuthorityIsToldNothing() throws Exception {
    trust(new Certificates(FILES.newFolder()));
    try (Master master = master(masters)) {
      checkUnheard(master);
    }
  }

  @Test
  public void aMasterUnderAnotherNameIsToldNothing() throws Exception {
    trust(certificates);
    try (Master master = master(certificates.issue("other", "DNS:tidemark.example", "rsa"))) {
      checkUnheard(master);
    }
  }

  @Test
  public void aMasterHasTheNameThatTheJobExpects() throws Exception {
    trust(certificates);
    conf.set(Keys.TLS_SERVER_NAME, "tidemark.example");
    try (Master master = master(certificates.issue("named", "DNS:tidemark.example", "rsa"))) {
      checkHeard(master);
    }
  }

  @Test
  public void aMasterWithoutTlsIsToldNothingByAJobThatWantsIt() throws Exception {
    trust(certificates);
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      checkUnheard(master);
    }
  }

  @Test
  public void aMasterThatAsksForACertificateGetsOne() throws Exception {
    trust(certificates);
    for (String kind : new String[] {"ec", "rsa"}) {
      show(certificates.issue("client-" + kind, "DNS:client", kind));
      try (Master master = master(masters, "tls.client_ca=" + certificates.authority())) {
        checkHeard(master);
      }
    }
  }

  @Test
  public void withoutACertificateAMasterThatAsksForOneHearsNothing() throws Exception {
    trust(certificates);
    try (Master master = master(masters, "tls.client_ca=" + certificates.authority())) {
      checkUnheard(master);
    }
  }

  @Test
  public void aJobShowsItsToken() throws Exception {
    trust(certificates);
    Jobs.giveToken(conf, FILES.newFile(), TOKEN);
    try (Master master = master(masters, tokens())) {
      checkHeard(master);
    }
  }

  @Test
  public void aJobWithTheWrongTokenIsNotHeard() throws Exception {
    Jobs.giveToken(conf, FILES.newFile(), "not-the-master's-token");
    try (Master master = Master.start(FILES.newFolder().toPath(), tokens())) {
      checkUnheard(master);
    }
  }

  @Test
  public void filesThatAreNotThereCostNoMoreThanProgress() throws Exception {
    conf.set(Keys.TLS_CA, FILES.getRoot() + "/no/such/file");
    try (Master master = master(masters)) {
      checkUnheard(master);
    }
  }

  /** Between a client and a master: what the master says arrives in halves, long after each other. */
  private static void passOnInHalves(InputStream in, OutputStream out, String address)
      throws Exception {
    final String[] parts = address.split(":");
    try (Socket master = new Socket(parts[0], Integer.parseInt(parts[1]))) {
      final Thread forward =
          new Thread(
              () -> {
                try {
                  in.transferTo(master.getOutputStream());
                } catch (IOException over) {
                  // The other direction ends, too.
                }
              });
      forward.setDaemon(true);
      forward.start();
      final byte[] bytes = new byte[1 << 16];
      // First of all, the master's part of the handshake: that has a limit of its own.
      out.write(bytes, 0, master.getInputStream().read(bytes));
      for (int got; (got = master.getInputStream().read(bytes)) > 0; ) {
        out.write(bytes, 0, got / 2);
        out.flush();
        Thread.sleep(1_500); // longer than the connector's reader waits at a time
        out.write(bytes, got / 2, got - got / 2);
        out.flush();
      }
    }
  }

  @Test
  public void aPauseWithinARecordOfTlsDoesNotEndTheConnection() throws Exception {
    final List<String> log = new CopyOnWriteArrayList<>();
    try (Master master = master(masters);
        OddMaster slow = OddMaster.with((in, out) -> passOnInHalves(in, out, master.address))) {
      final Tls tls = new Tls(certificates.authority(), null, null, "");
      final Sender sender =
          new Sender(
              Endpoint.of(slow.address, "", tls),
              new Source("test", "source", "job_1_0001", "job_1_0001"),
              Sender.TASK_BUFFER_BYTES_MAX,
              new MeterSettings(),
              log::add,
              new Guard(log::add));
      final JobNews paused = new JobNews("test");
      paused.name = "paused";
      sender.send(Events.jobOpened(paused));
      assertTrue(log.toString(), sender.flush(TimeUnit.SECONDS.toNanos(60)));
      assertEquals(Collections.emptyList(), log);
      sender.stop(0);
      assertEquals(Collections.singleton("job_1_0001"), master.jobs());
    }
  }
}
