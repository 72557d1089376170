package org.tidemark.hadoop;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.security.Credentials;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.rules.Timeout;
import org.tidemark.jvm.transport.ListeningMaster;
import org.tidemark.jvm.wire.Attempt;

public class LocalJobTest {
  @Rule public final Timeout patience = Timeout.seconds(60);
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private static Thread watcher() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("tidemark-local-job"))
        .findAny()
        .get();
  }

  private static boolean isInItsLastWords(Thread watcher) {
    for (StackTraceElement call : watcher.getStackTrace()) {
      if (call.getMethodName().equals("waitUntilSettled")) {
        return true;
      }
    }
    return false;
  }

  @Test
  public void theLastEventsArriveBeforeAProcessExitsAfterAFailure() throws Exception {
    final File directory = folder.newFolder();
    final JobID id = new JobID("local1", 1);
    try (ListeningMaster master = new ListeningMaster()) {
      final JobConf conf = new JobConf(false);
      conf.set(Keys.MASTER, master.address);
      conf.set(MRJobConfig.MAPREDUCE_JOB_DIR, directory.toURI().toString());
      final LocalJob job =
          LocalJob.of(id, conf, Link.of(conf, new Credentials(), id.toString()));
      job.started(Attempt.map(0, 0));
      final Thread watcher = watcher();
      assertTrue(directory.delete());
      while (watcher.isAlive() && !isInItsLastWords(watcher)) {
        Thread.sleep(5);
      }
      job.endWithProcess();
      assertFalse("the watcher still tells of the end", watcher.isAlive());
    }
  }
}
