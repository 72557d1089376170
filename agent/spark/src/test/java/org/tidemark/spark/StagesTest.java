package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.Test;
import org.tidemark.jvm.wire.StageDescription;

public class StagesTest {
  private final Stages stages = new Stages(false);
  private final Stages.Work job = new Stages.Work("job/0", "", "job", "");

  private static StageFacts facts(int stage, int attempt, int tasks, int partitions, int... parents) {
    return new StageFacts(stage, attempt, "count", tasks, partitions, parents, List.of("step"), 0);
  }

  private StageDescription list(int stage, int... parents) {
    return stages.listed(facts(stage, 0, 4, 4, parents), job);
  }

  private static List<Integer> skipped(List<StageDescription> update) {
    return update.stream().filter(n -> n.skipped).map(n -> n.number).collect(Collectors.toList());
  }

  @Test
  public void stagesThatNeverRanBeforeOneThatRunsAreSkipped() {
    list(0);
    list(1, 0);
    list(2);
    list(3, 1, 2);
    stages.submitted(facts(2, 0, 4, 4));
    final List<StageDescription> update = stages.submitted(facts(3, 0, 4, 4, 1, 2));
    assertEquals(List.of(1, 0), skipped(update));
    assertEquals(3, update.get(update.size() - 1).number);
    assertFalse(update.get(update.size() - 1).skipped);
  }

  @Test
  public void aStageOfTwoJobsIsReportedOnce() {
    list(0);
    assertNull(stages.listed(facts(0, 0, 4, 4), new Stages.Work("job/1", "", "other", "")));
  }

  @Test
  public void signaturesAreThoseOfAnotherRunAndDifferWithinOne() {
    final String first = list(0).signature;
    final String second = list(1).signature;
    assertNotEquals(first, second);
    final Stages again = new Stages(false);
    final Stages.Work sameJob = new Stages.Work("job/7", "", "job", "");
    assertEquals(first, again.listed(facts(20, 0, 8, 8), sameJob).signature);
    assertEquals(second, again.listed(facts(21, 0, 8, 8), sameJob).signature);
    final Stages.Work otherJob = new Stages.Work("job/8", "", "job 2", "");
    assertNotEquals(first, again.listed(facts(22, 0, 8, 8), otherJob).signature);
  }

  @Test
  public void unneededStagesOfAnEndedJobAreSkipped() {
    list(0);
    list(1, 0);
    stages.submitted(facts(1, 0, 4, 4, 0));
    assertTrue(stages.ended(new int[] {0, 1}).isEmpty());
    list(2);
    list(2);
    assertTrue(stages.ended(new int[] {2}).isEmpty());
    assertEquals(List.of(2), skipped(stages.ended(new int[] {2, 99})));
  }

  @Test
  public void anAttemptForSomePartitionsReportsTheirNumber() {
    final StageDescription whole = list(0);
    assertEquals(4, whole.tasks);
    assertEquals("as many as tasks", -1, whole.indexes);
    final StageDescription retry = stages.submitted(facts(0, 1, 2, 4)).get(0);
    assertEquals(1, retry.attempt);
    assertEquals(2, retry.tasks);
    assertEquals(4, retry.indexes);
    final StageDescription take = stages.listed(facts(1, 0, 2, 10), job);
    assertEquals(2, take.tasks);
    assertEquals(10, take.indexes);
    assertEquals("unknown", -1, stages.listed(facts(2, 0, 2, -1), job).indexes);
  }

  @Test
  public void anUnlistedStageIsOmitted() {
    assertTrue(stages.submitted(facts(5, 0, 4, 4)).isEmpty());
    assertFalse(stages.isKnown(5));
  }

  @Test
  public void stagesAreIndependentOfTheSubmitterOfAQuery() {
    final Stages.Work query = new Stages.Work("sql/3", "", "sql 1f.7 1", "1f.7");
    final StageFacts ofOneLine =
        new StageFacts(0, 0, "collect at a.py:1", 4, 4, new int[0], List.of("scan"), 0);
    final StageFacts ofAnother =
        new StageFacts(0, 0, "collect at a.py:9", 4, 4, new int[0], List.of("scan"), 0);
    final StageDescription first = stages.listed(ofOneLine, query);
    final StageDescription again =
        new Stages(false)
            .listed(ofAnother, new Stages.Work("sql/5", "", "sql 1f.7 1", "1f.7"));
    assertEquals(first.signature, again.signature);
    assertEquals(first.work, again.work);
    final StageDescription ofAnotherPlan =
        new Stages(false)
            .listed(ofAnother, new Stages.Work("sql/5", "", "sql 2e.7 1", "2e.7"));
    assertNotEquals(first.work, ofAnotherPlan.work);
  }
}
