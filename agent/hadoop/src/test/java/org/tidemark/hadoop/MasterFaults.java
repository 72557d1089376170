package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;

import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.support.Jobs;
import org.tidemark.jvm.support.FarMachine;
import org.tidemark.jvm.support.FaultyMaster;
import org.tidemark.jvm.support.Master;

/** Tests faults of a master, which must not affect a job, either locally or in a cluster. */
public abstract class MasterFaults {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  /** Runs a job with these additional settings and checks its output. */
  abstract void check(String what, String master, Configuration further) throws Exception;

  final void check(String what, String master) throws Exception {
    check(what, master, new Configuration(false));
  }

  @Test
  public void aPresentMasterDoesNotDelayTheJob() throws Exception {
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      check("a master that is there", master.address);
    }
  }

  @Test
  public void anAbsentMasterDoesNotDelayTheJob() throws Exception {
    check("absent", FaultyMaster.absent());
  }

  @Test
  public void aMasterBehindABlackHole() throws Exception {
    try (FarMachine far = FarMachine.start()) {
      far.fallSilent();
      check("black-holed", far.address + ":7411");
    }
  }

  @Test
  public void aFullMasterDoesNotDelayTheJob() throws Exception {
    try (FaultyMaster full = FaultyMaster.full()) {
      check("full", full.address);
    }
  }

  @Test
  public void aSlowlyReadingMasterDoesNotDelayTheJob() throws Exception {
    try (FaultyMaster slow = FaultyMaster.slow()) {
      check("slow", slow.address);
    }
  }

  @Test
  public void invalidResponsesDoNotDelayTheJob() throws Exception {
    try (FaultyMaster odd = FaultyMaster.garbage()) {
      check("garbage", odd.address);
    }
  }

  @Test
  public void aRejectedTokenDoesNotDelayTheJob() throws Exception {
    final String tokens = Master.tokens(FILES.newFile(), "*", "2f0d6b1c9e8a47d3");
    try (Master master = Master.start(FILES.newFolder().toPath(), tokens)) {
      final Configuration wrong = new Configuration(false);
      Jobs.giveToken(wrong, FILES.newFile(), "not-the-master's-token");
      check("wrong token", master.address, wrong);
      assertEquals(Collections.emptySet(), master.jobs());
    }
  }
}
