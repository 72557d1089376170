package org.tidemark.jvm.transport;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.DataInputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;
import org.tidemark.jvm.support.ChildJvm;
import org.tidemark.jvm.support.FaultyMaster;
import org.tidemark.jvm.support.TightTask;

/** Tests that the connector does not end a process that has exhausted a resource. */
public class TightTaskTest {
  @Rule public final Timeout patience = Timeout.seconds(120);

  private static final List<String> SMALL =
      Arrays.asList("-Xmx24m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  /**
   * Returns an unknown field of StreamEventsResponse with number 15. Its content is the remainder
   * of the response.
   */
  private static byte[] answerOf(int length) {
    final byte[] answer = new byte[length];
    answer[0] = 15 << 3 | 2;
    return Calls.framed(answer);
  }

  private static void checkSurvivesAnAnswerOf(int length) throws Exception {
    final CountDownLatch full = new CountDownLatch(1);
    try (FaultyMaster master =
            FaultyMaster.with(
                (in, out) -> {
                  new DataInputStream(in).readFully(new byte[Calls.PREFACE_BYTES]);
                  full.await();
                  final byte[] answer = answerOf(length);
                  for (int at = 0; at < answer.length; at += Http2.FRAME_BYTES_MAX) {
                    final int size = Math.min(Http2.FRAME_BYTES_MAX, answer.length - at);
                    Http2.write(out, Http2.DATA, 0, 1, answer, at, size);
                  }
                  out.flush();
                  in.read(new byte[1 << 16]);
                });
        ChildJvm task = new ChildJvm("", SMALL, TightTask.class, "heap", master.address)) {
      assertTrue(task.output(), task.awaitLine("full"));
      full.countDown();
      assertEquals(task.output(), 0, task.await());
      assertTrue(task.output(), task.output().contains("the task has done its work"));
      assertTrue(task.output(), task.output().contains("the job itself is not affected"));
    }
  }

  @Test
  public void aFullHeapDropsALargeResponse() throws Exception {
    checkSurvivesAnAnswerOf(1_000_000);
  }

  @Test
  public void aFullHeapReadsAUsualResponse() throws Exception {
    checkSurvivesAnAnswerOf(20_000);
  }

  @Test
  public void aJobRunsWithoutAThreadForTheConnector() throws Exception {
    final List<String> options = new ArrayList<>(SMALL);
    options.addAll(
        Arrays.asList(
            "-XX:CompressedClassSpaceSize=16m", "-XX:ReservedCodeCacheSize=16m", "-Xss48m"));
    final String limits = "export MALLOC_ARENA_MAX=1; ulimit -v 2000000";
    try (FaultyMaster master = FaultyMaster.with((in, out) -> in.read(new byte[1 << 16]));
        ChildJvm task =
            new ChildJvm(limits, options, TightTask.class, "threads", master.address)) {
      assertEquals(task.output(), 0, task.await());
      assertTrue(task.output(), task.output().contains("the task has done its work"));
      assertTrue(task.output(), task.output().contains("native thread"));
    }
  }
}
