package org.tidemark.hadoop;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.Credentials;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.Events;

/**
 * Sends one event to the master in the first argument, waits that many milliseconds for the
 * acknowledgement, and prints whether it arrived.
 */
public final class LinkedTask {
  private LinkedTask() {}

  public static void main(String[] arguments) {
    final Configuration conf = new Configuration(false);
    conf.set(Keys.MASTER, arguments[0]);
    final Sender sender = Link.of(conf, new Credentials(), "job_1_0001");
    sender.send(Events.heartbeat(Attempt.map(0, 0), 1, 2, 3));
    System.out.println(sender.flush(Long.parseLong(arguments[1]) * 1_000_000L));
  }
}
