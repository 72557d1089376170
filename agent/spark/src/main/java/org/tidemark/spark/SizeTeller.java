package org.tidemark.spark;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.StageNews;

/**
 * Finds out what the tasks of submitted stages have to read, on a thread of its own, and tells it.
 * Thread-safe.
 */
final class SizeTeller {
  /** More are left out: the sizes are known to be unknown. */
  private static final int WAITING_MAX = 100;

  private static final StageNews END = new StageNews(0, StageNews.Kind.UNSPECIFIED);

  private final BlockingQueue<StageNews> waiting = new ArrayBlockingQueue<>(WAITING_MAX);
  private final InputSizes sizes;
  private final Sender sender;
  private final Guard guard;
  private boolean isStarted;
  private volatile boolean isClosed;

  SizeTeller(InputSizes sizes, Sender sender, Guard guard) {
    this.sizes = sizes;
    this.sender = sender;
    this.guard = guard;
  }

  /** What is said of the attempt at the stage, with the sizes of its tasks. */
  synchronized void tell(StageNews stage) {
    if (!isStarted) {
      isStarted = true;
      guard.thread("tidemark-sizes", this::run).start();
    }
    waiting.offer(stage);
  }

  /** Ends the thread. */
  void close() {
    isClosed = true;
    waiting.clear();
    waiting.offer(END);
  }

  private void run() throws InterruptedException {
    while (!isClosed && !guard.isOff()) {
      final StageNews stage = waiting.take();
      if (stage != END && sizes.addTo(stage)) {
        sender.send(Events.stageOpened(stage));
      }
    }
  }
}
