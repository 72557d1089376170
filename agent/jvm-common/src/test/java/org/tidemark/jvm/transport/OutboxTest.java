package org.tidemark.jvm.transport;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.util.Collections;
import org.junit.Test;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.support.Fields;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.JobDescription;
import org.tidemark.jvm.wire.ProtoWriter;

public class OutboxTest {
  private static final Attempt SOME = Attempt.map(0, 0);

  private static Event profile() {
    return Events.heartbeat(SOME, 1, 1, 1);
  }

  private static Event attempt() {
    return Events.attemptChanged(new AttemptUpdate(SOME, Events.State.STARTED));
  }

  private static Outbox outbox(long bytesMax) {
    return new Outbox(new Source("test", "source", "job", "run"), bytesMax);
  }

  private static Outbox roomyOutbox() {
    return outbox(64 << 20);
  }

  /** Returns the source that the request opens. */
  private static Fields source(byte[] request) {
    return new Fields(request).message(2);
  }

  /** Returns the number of the first event. */
  private static long sequence(byte[] request) {
    return new Fields(request).value(4);
  }

  private static int events(byte[] request) {
    return new Fields(request).messages(7).size();
  }

  private static Event jobOpened(int nameLength) {
    final JobDescription job = new JobDescription("test");
    job.name = String.join("", Collections.nCopies(nameLength, "x"));
    return Events.jobOpened(job);
  }

  @Test
  public void aBatchRespectsTheEventLimitOfTheWire() {
    final Outbox outbox = roomyOutbox();
    for (int i = 0; i < 10_001; ++i) {
      outbox.add(profile());
    }
    assertEquals(10_000, events(outbox.next(0, 0)));
    assertEquals(10_001, sequence(outbox.next(0, 0)));
  }

  @Test
  public void responsesForAnotherSourceAreIgnored() {
    final Outbox outbox = roomyOutbox();
    final MeterSettings settings = new MeterSettings();
    outbox.add(profile());
    outbox.next(0, 0);
    final byte[] ofAnother =
        new ProtoWriter()
            .uint(2, 1)
            .message(3, new ProtoWriter().uint(1, 1).uint(2, 3))
            .message(4, new ProtoWriter().uint(8, 1))
            .uint(1, 7)
            .toByteArray();
    outbox.acknowledge(Answers.apply(ofAnother, outbox, settings, reason -> fail(reason)));
    assertTrue(outbox.hasUnacknowledged());
    assertFalse(settings.sendPoints());
  }

  @Test
  public void rejectionsWithoutReasonsAreReported() {
    final Outbox outbox = roomyOutbox();
    final StringBuilder reported = new StringBuilder();
    final byte[] answer = new ProtoWriter().uint(6, 200).toByteArray();
    outbox.acknowledge(Answers.apply(answer, outbox, new MeterSettings(), reported::append));
    assertEquals("rejected 200 more events", reported.toString());
  }

  @Test
  public void queuedEventsAreSentInOneBatchInOrder() {
    final Outbox outbox = roomyOutbox();
    outbox.add(profile());
    outbox.add(attempt());
    outbox.add(profile());
    final byte[] first = outbox.next(0, 0);
    assertEquals(1, sequence(first));
    assertEquals(3, events(first));
    assertNull(outbox.next(0, 0));
    outbox.add(profile());
    assertEquals(4, sequence(outbox.next(0, 0)));
  }

  @Test
  public void opensItsSourceOnceForAStream() {
    final Outbox outbox = roomyOutbox();
    outbox.add(profile());
    final byte[] first = outbox.next(0, 0);
    assertEquals("source", source(first).text(2));
    assertEquals("job", source(first).text(3));
    assertEquals("run", source(first).text(4));
    outbox.add(profile());
    assertFalse(new Fields(outbox.next(0, 0)).has(2));
    outbox.rewind();
    assertEquals("source", source(outbox.next(0, 0)).text(2));
  }

  @Test
  public void aNewStreamRepeatsUnacknowledgedEvents() {
    final Outbox outbox = roomyOutbox();
    for (int i = 0; i < 3; ++i) {
      outbox.add(profile());
      assertNotNull(outbox.next(0, 0));
    }
    assertTrue(outbox.acknowledge(1));
    outbox.rewind();
    final byte[] repeated = outbox.next(0, 0);
    assertEquals(2, sequence(repeated));
    assertEquals(2, events(repeated));
    assertFalse(outbox.isEmpty());
    assertTrue(outbox.acknowledge(3));
    assertTrue(outbox.isEmpty());
  }

  @Test
  public void anAcknowledgementOfAnUnsentEventIsIgnored() {
    final Outbox outbox = roomyOutbox();
    outbox.add(profile());
    assertFalse(outbox.acknowledge(7));
    assertFalse(outbox.isEmpty());
    assertEquals(1, sequence(outbox.next(0, 0)));
  }

  @Test
  public void aRejectedEventIsNotSentAgain() {
    final Outbox outbox = roomyOutbox();
    for (int i = 0; i < 3; ++i) {
      outbox.add(profile());
    }
    outbox.next(0, 0);
    outbox.reject(2);
    outbox.rewind();
    assertEquals("no batch spans a gap", 1, events(outbox.next(0, 0)));
    assertEquals(3, sequence(outbox.next(0, 0)));
  }

  @Test
  public void aFullBufferDropsAndCountsProfilesFirst() {
    final long room = 4L * attempt().sizeBytes + 64;
    final Outbox outbox = outbox(room);
    outbox.add(jobOpened(0));
    for (int i = 0; i < 20; ++i) {
      outbox.add(profile());
    }
    assertTrue(outbox.dropped() > 0);
    for (int i = 0; i < 2; ++i) {
      outbox.add(attempt());
    }
    final byte[] first = outbox.next(0, 0);
    assertEquals("the opening of the job is still there", 1, sequence(first));
    assertEquals("reported before it", outbox.dropped(), new Fields(first).value(6));
  }

  @Test
  public void anOversizedEventKeepsTheOthers() {
    final Outbox outbox = outbox(10L * attempt().sizeBytes);
    for (int i = 0; i < 5; ++i) {
      outbox.add(attempt());
    }
    outbox.add(jobOpened(4_000));
    assertEquals(1, outbox.dropped());
    assertEquals(5, events(outbox.next(0, 0)));
  }

  @Test
  public void eventsInFlightCountForTheBuffer() {
    final Outbox outbox = outbox(10L * attempt().sizeBytes);
    for (int i = 0; i < 9; ++i) {
      outbox.add(attempt());
    }
    while (outbox.next(0, 0) != null) {
      // Events are sent up to the limit of unacknowledged events.
    }
    outbox.add(jobOpened(6 * attempt().sizeBytes));
    assertEquals("only itself", 1, outbox.dropped());
  }

  @Test
  public void aSilentMasterLeavesRoomForNewEvents() {
    final Outbox outbox = outbox(20L * profile().sizeBytes);
    for (int i = 0; i < 20; ++i) {
      outbox.add(profile());
    }
    final int sent = events(outbox.next(0, 0));
    assertNull(outbox.next(0, 0));
    assertTrue("at most half is on its way: " + sent, sent <= 11);
    outbox.add(attempt());
    outbox.acknowledge(sent);
    assertNotNull(outbox.next(0, 0));
  }

  @Test
  public void theWaitEndsWithTheLastAcknowledgement() throws Exception {
    final Outbox outbox = roomyOutbox();
    outbox.add(profile());
    outbox.next(0, 0);
    assertFalse(outbox.waitUntilSettled(outbox.newest(), System.nanoTime() + 1_000_000));
    outbox.acknowledge(1);
    assertTrue(outbox.waitUntilSettled(outbox.newest(), System.nanoTime()));
  }
}
