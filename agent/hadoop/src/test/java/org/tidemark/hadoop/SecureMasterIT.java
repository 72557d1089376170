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
import org.apache.hadoop.examples.WordCount;
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
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.support.Certificates;
import org.tidemark.jvm.support.Master;
import org.tidemark.jvm.support.FaultyMaster;
import org.tidemark.jvm.support.Senders;
import org.tidemark.jvm.transport.Endpoint;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.transport.Tls;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.JobDescription;

/**
 * Tests masters that authenticate reporters, and jobs that authenticate masters. In every
 * combination, the output must equal the output without the connector.
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

  /** Delays word count until its master has stored the job, since a short job may end before that. */
  public static class WaitingMapper extends WordCount.TokenizerMapper {
    private static volatile Master master;

    @Override
    protected void setup(Context context) throws InterruptedException {
      final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (master.jobs().isEmpty() && System.nanoTime() < deadline) {
        Thread.sleep(20);
      }
    }
  }

  /** Returns the output of word count. */
  private static byte[] run(Configuration settings) throws Exception {
    return run(settings, WordCount.TokenizerMapper.class);
  }

  private static byte[] run(Configuration settings, Class<? extends WordCount.TokenizerMapper> map)
      throws Exception {
    final Path output = new Path(new File(FILES.getRoot(), "out" + ++outputs).toURI());
    final Job words = Jobs.wordCount(settings, true);
    words.setMapperClass(map);
    final JobConf made = (JobConf) words.getConfiguration();
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
    return Master.tokens(FILES.newFile(), "job_*", TOKEN);
  }

  private void trust(Certificates signer) {
    conf.set(Keys.TLS_CA, signer.authority().getPath());
  }

  private void show(Certificates.Pair pair) {
    conf.set(Keys.TLS_CERTIFICATE, pair.certificate.getPath());
    conf.set(Keys.TLS_KEY, pair.key.getPath());
  }

  private void checkReceived(Master master) throws Exception {
    WaitingMapper.master = master;
    conf.setLong(Keys.FINAL_WAIT_MILLIS, 60_000);
    assertArrayEquals(
        expected, run(Jobs.measured(conf, master.address), WaitingMapper.class));
    assertEquals(1, master.jobs().size());
    assertEquals(1, EventLog.of(master, master.jobs().iterator().next()).outcome);
  }

  private void checkNotReceived(Master master) throws Exception {
    assertArrayEquals(expected, run(Jobs.measured(conf, master.address)));
    assertEquals(Collections.emptySet(), master.jobs());
  }

  @Test
  public void aJobReportsOverTls() throws Exception {
    trust(certificates);
    try (Master master = master(masters)) {
      checkReceived(master);
    }
  }

  @Test
  public void aMasterOfAnotherAuthorityReceivesNothing() throws Exception {
    trust(new Certificates(FILES.newFolder()));
    try (Master master = master(masters)) {
      checkNotReceived(master);
    }
  }

  @Test
  public void aMasterWithAnotherNameReceivesNothing() throws Exception {
    trust(certificates);
    try (Master master = master(certificates.issue("other", "DNS:tidemark.example", "rsa"))) {
      checkNotReceived(master);
    }
  }

  @Test
  public void aJobVerifiesTheNameOfTheMaster() throws Exception {
    trust(certificates);
    conf.set(Keys.TLS_SERVER_NAME, "tidemark.example");
    try (Master master = master(certificates.issue("named", "DNS:tidemark.example", "rsa"))) {
      checkReceived(master);
    }
  }

  @Test
  public void aMasterWithoutTlsReceivesNothingFromAJobWithTls() throws Exception {
    trust(certificates);
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      checkNotReceived(master);
    }
  }

  @Test
  public void aClientCertificateIsSentOnRequest() throws Exception {
    trust(certificates);
    for (String kind : new String[] {"ec", "rsa"}) {
      show(certificates.issue("client-" + kind, "DNS:client", kind));
      try (Master master = master(masters, "tls.client_ca=" + certificates.authority())) {
        checkReceived(master);
      }
    }
  }

  @Test
  public void aMasterThatRequiresACertificateReceivesNothingWithoutOne() throws Exception {
    trust(certificates);
    try (Master master = master(masters, "tls.client_ca=" + certificates.authority())) {
      checkNotReceived(master);
    }
  }

  @Test
  public void aJobSendsItsToken() throws Exception {
    trust(certificates);
    Jobs.giveToken(conf, FILES.newFile(), TOKEN);
    try (Master master = master(masters, tokens())) {
      checkReceived(master);
    }
  }

  @Test
  public void eventsWithAWrongTokenAreRejected() throws Exception {
    Jobs.giveToken(conf, FILES.newFile(), "not-the-master's-token");
    try (Master master = Master.start(FILES.newFolder().toPath(), tokens())) {
      checkNotReceived(master);
    }
  }

  @Test
  public void missingFilesDisableOnlyTheirProgress() throws Exception {
    conf.set(Keys.TLS_CA, FILES.getRoot() + "/no/such/file");
    try (Master master = master(masters)) {
      checkNotReceived(master);
    }
  }

  /** Forwards the master's bytes in halves, with long pauses between them. */
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
                  // The other direction ends too.
                }
              });
      forward.setDaemon(true);
      forward.start();
      final byte[] bytes = new byte[1 << 16];
      // Forwards the master's part of the handshake immediately, since the handshake has its own
      // limit.
      out.write(bytes, 0, master.getInputStream().read(bytes));
      for (int got; (got = master.getInputStream().read(bytes)) > 0; ) {
        out.write(bytes, 0, got / 2);
        out.flush();
        Thread.sleep(1_500);  // Longer than a single wait of the connector's reader.
        out.write(bytes, got / 2, got - got / 2);
        out.flush();
      }
    }
  }

  @Test
  public void aPauseWithinARecordOfTlsDoesNotEndTheConnection() throws Exception {
    final List<String> log = new CopyOnWriteArrayList<>();
    try (Master master = master(masters);
        FaultyMaster slow = FaultyMaster.with((in, out) -> passOnInHalves(in, out, master.address))) {
      final Tls tls = new Tls(certificates.authority(), null, null, "");
      final Endpoint endpoint = Endpoint.of(slow.address, "", tls);
      final Sender sender =
          Senders.to(
              endpoint,
              "job_1_0001",
              Sender.TASK_BUFFER_BYTES_MAX,
              new MeterSettings(),
              log::add);
      final JobDescription paused = new JobDescription("test");
      paused.name = "paused";
      sender.send(Events.jobOpened(paused));
      assertTrue(log.toString(), sender.flush(TimeUnit.SECONDS.toNanos(60)));
      assertEquals(Collections.emptyList(), log);
      sender.stop(0);
      assertEquals(Collections.singleton("job_1_0001"), master.jobs());
    }
  }
}
