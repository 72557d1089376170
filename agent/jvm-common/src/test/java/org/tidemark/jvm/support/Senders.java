package org.tidemark.jvm.support;

import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.transport.Endpoint;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.transport.Source;

/** Creates senders whose problems and guard share a log. */
public final class Senders {
  private Senders() {}

  public static Sender to(String address, Log log) {
    final Endpoint master = Endpoint.of(address, "", null);
    return to(master, "job", Sender.TASK_BUFFER_BYTES_MAX, new MeterSettings(), log);
  }

  public static Sender to(
      Endpoint master, String job, long bufferBytesMax, MeterSettings settings, Log log) {
    final Source source = new Source("test", "source", job, "run");
    return new Sender(master, source, bufferBytesMax, settings, log, new Guard(log));
  }
}
