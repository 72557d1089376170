package org.tidemark.hadoop;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.Credentials;
import org.tidemark.hadoop.transport.Sender;
import org.tidemark.hadoop.wire.Attempt;
import org.tidemark.hadoop.wire.Events;

/** A task on a machine whose name service does not answer. */
public final class TaskWithoutNames {
  private TaskWithoutNames() {}

  public static void main(String[] arguments) {
    final Configuration conf = new Configuration(false);
    conf.set(Keys.MASTER, "master.example:7411");
    final Sender sender = Link.of(conf, new Credentials(), "job_1_0001");
    sender.send(Events.heartbeat(new Attempt(true, 0, 0), 1, 2, 3));
    sender.flush(1_000_000L);
    System.out.println("the task has done its work");
  }
}
