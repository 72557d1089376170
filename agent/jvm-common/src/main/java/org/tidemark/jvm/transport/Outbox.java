package org.tidemark.jvm.transport;

import java.util.ArrayDeque;
import java.util.Iterator;
import org.tidemark.jvm.wire.Event.Importance;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.ProtoWriter;

/**
 * A bounded, ordered queue of the events that wait to be sent or acknowledged. Each event is resent
 * until the master acknowledges or rejects it (agent/outbox.h). If the queue is full, the least
 * important unsent events are dropped, oldest first, and counted. Events with a sequence number are
 * never dropped, and no event is dropped if the new event would still not fit. At most half of the
 * bytes may be unacknowledged. An unresponsive master therefore leaves space for new events.
 *
 * <p>Thread-safe. Only {@link #waitUntilSettled} blocks.
 */
public final class Outbox {
  /** Field numbers of StreamEventsRequest. */
  private static final int EVENTS = 7;

  /** The limit of a batch (ingest_service.proto). */
  private static final int BATCH_EVENTS_MAX = 10_000;

  private static final class Item {
    final Event event;
    final long ordinal;
    long sequence;

    Item(Event event, long ordinal) {
      this.event = event;
      this.ordinal = ordinal;
    }
  }

  private final Source source;
  private final long bytesMax;

  @SuppressWarnings("unchecked")
  private final ArrayDeque<Item>[] waiting = new ArrayDeque[Importance.values().length];

  private final ArrayDeque<Item> unacknowledged = new ArrayDeque<>();
  /** The bytes of the events that wait, by importance. */
  private final long[] bytesOfRank = new long[waiting.length];
  private long waitingBytes;
  private long unacknowledgedBytes;
  private long newest;
  private long sequence;
  private long handed;
  private long dropped;
  private boolean isSourceOpen;

  public Outbox(Source source, long bytesMax) {
    this.source = source;
    this.bytesMax = bytesMax;
    for (int i = 0; i < waiting.length; ++i) {
      waiting[i] = new ArrayDeque<>();
    }
  }

  public synchronized void add(Event event) {
    final Item item = new Item(event, ++newest);
    if (isFull(event) && !canMakeRoom(event)) {
      ++dropped;
      return;
    }
    for (int rank = 0; rank <= event.importance.ordinal(); ++rank) {
      while (isFull(event) && !waiting[rank].isEmpty()) {
        count(rank, -waiting[rank].removeFirst().event.sizeBytes);
        ++dropped;
        notifyAll();
      }
    }
    count(event.importance.ordinal(), event.sizeBytes);
    waiting[event.importance.ordinal()].addLast(item);
  }

  private void count(int rank, long bytes) {
    bytesOfRank[rank] += bytes;
    waitingBytes += bytes;
  }

  /**
   * Returns the next StreamEventsRequest, stamped with these times. It contains all waiting events
   * that fit into a batch. Returns null if no event waits or if too many events are unanswered.
   */
  public synchronized byte[] next(long nowMillis, long nowNanos) {
    ProtoWriter batch = null;
    for (int events = 0; events < BATCH_EVENTS_MAX; ++events) {
      final Item item = nextUnsent();
      if (item == null) {
        break;
      }
      if (batch == null) {
        batch = newBatch(item.sequence, nowMillis);
      } else if (item.sequence != handed + 1) {
        break;  // A rejected event leaves a gap, which a batch cannot span.
      }
      batch.message(EVENTS, item.event.encoded(nowNanos));
      handed = item.sequence;
    }
    return batch == null ? null : batch.toByteArray();
  }

  private ProtoWriter newBatch(long firstSequence, long nowMillis) {
    final ProtoWriter batch = new ProtoWriter();
    if (!isSourceOpen) {
      isSourceOpen = true;
      batch.message(
          2,
          new ProtoWriter()
              .string(2, source.sourceId)
              .string(3, source.jobId)
              .string(4, source.runUid)
              .string(5, source.program));
    }
    return batch
        .uint(4, firstSequence)
        .fixed64Always(5, nowMillis * 1_000_000L)
        .uint(6, dropped);
  }

  /** Starts a new stream: next() opens the source and restarts with the oldest unanswered event. */
  public synchronized void rewind() {
    handed = 0;
    isSourceOpen = false;
  }

  /**
   * Marks all events up to {@code accepted} as answered. Returns false if that number was never
   * sent.
   */
  public synchronized boolean acknowledge(long accepted) {
    if (accepted > sequence || accepted < 0) {
      return false;
    }
    while (!unacknowledged.isEmpty() && unacknowledged.peekFirst().sequence <= accepted) {
      unacknowledgedBytes -= unacknowledged.removeFirst().event.sizeBytes;
    }
    notifyAll();
    return true;
  }

  /** Removes an event that the master rejected. */
  public synchronized void reject(long refused) {
    for (Iterator<Item> items = unacknowledged.iterator(); items.hasNext(); ) {
      final Item item = items.next();
      if (item.sequence == refused) {
        unacknowledgedBytes -= item.event.sizeBytes;
        items.remove();
        notifyAll();
        return;
      }
    }
  }

  /** Returns true if no event waits, sent or not. */
  public synchronized boolean isEmpty() {
    return oldestOutstanding() == Long.MAX_VALUE;
  }

  public synchronized boolean hasUnacknowledged() {
    return !unacknowledged.isEmpty();
  }

  /** Returns true if so many events wait that callers should hold back other data. */
  public synchronized boolean isCongested() {
    return waitingBytes > bytesMax / 4;
  }

  public synchronized long newest() {
    return newest;
  }

  public synchronized long dropped() {
    return dropped;
  }

  /**
   * Blocks until every event up to {@code ordinal} is answered or dropped. Returns false at the
   * deadline.
   */
  public synchronized boolean waitUntilSettled(long ordinal, long deadlineNanos)
      throws InterruptedException {
    while (oldestOutstanding() <= ordinal) {
      final long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      wait(Math.max(1, left / 1_000_000L));
    }
    return true;
  }

  private boolean isFull(Event more) {
    return waitingBytes + unacknowledgedBytes + more.sizeBytes > bytesMax;
  }

  /** Returns true if the event fits after dropping all events of equal or less importance. */
  private boolean canMakeRoom(Event event) {
    long stayingBytes = unacknowledgedBytes;
    for (int rank = event.importance.ordinal() + 1; rank < waiting.length; ++rank) {
      stayingBytes += bytesOfRank[rank];
    }
    return stayingBytes + event.sizeBytes <= bytesMax;
  }

  private Item nextUnsent() {
    // Only a new stream repeats events, so the search is usually skipped.
    if (!unacknowledged.isEmpty() && unacknowledged.peekLast().sequence > handed) {
      for (Item item : unacknowledged) {
        if (item.sequence > handed) {
          return item;
        }
      }
    }
    if (!unacknowledged.isEmpty() && unacknowledgedBytes >= bytesMax / 2) {
      return null;
    }
    final ArrayDeque<Item> lane = oldestLane();
    if (lane == null) {
      return null;
    }
    final Item item = lane.removeFirst();
    item.sequence = ++sequence;
    count(item.event.importance.ordinal(), -item.event.sizeBytes);
    unacknowledgedBytes += item.event.sizeBytes;
    unacknowledged.addLast(item);
    return item;
  }

  private ArrayDeque<Item> oldestLane() {
    ArrayDeque<Item> oldest = null;
    for (ArrayDeque<Item> lane : waiting) {
      if (!lane.isEmpty()
          && (oldest == null || lane.peekFirst().ordinal < oldest.peekFirst().ordinal)) {
        oldest = lane;
      }
    }
    return oldest;
  }

  private long oldestOutstanding() {
    long oldest = unacknowledged.isEmpty() ? Long.MAX_VALUE : unacknowledged.peekFirst().ordinal;
    for (ArrayDeque<Item> lane : waiting) {
      if (!lane.isEmpty()) {
        oldest = Math.min(oldest, lane.peekFirst().ordinal);
      }
    }
    return oldest;
  }
}
