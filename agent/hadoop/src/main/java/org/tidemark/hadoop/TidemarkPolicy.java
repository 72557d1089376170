package org.tidemark.hadoop;

import java.io.IOException;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.checkpoint.TaskCheckpointID;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.rm.preemption.AMPreemptionPolicy;
import org.apache.hadoop.mapreduce.v2.app.rm.preemption.NoopAMPreemptionPolicy;
import org.apache.hadoop.yarn.api.records.PreemptionMessage;
import org.tidemark.jvm.guard.Guard;

/**
 * The application master's side of the connector. Every application master creates a policy and
 * passes it a context, which {@link JobWatch} uses. Delegates preemption to another policy.
 *
 * <p>Set as yarn.app.mapreduce.am.preemption.policy. The allocator's thread calls the policy, which
 * only delegates. The connector never fails the application master.
 */
public final class TidemarkPolicy implements AMPreemptionPolicy, Configurable {
  private final Guard guard = Connector.GUARD;
  private Configuration conf;
  private AMPreemptionPolicy delegate = new NoopAMPreemptionPolicy();

  @Override
  public void setConf(Configuration conf) {
    this.conf = conf;
  }

  @Override
  public Configuration getConf() {
    return conf;
  }

  @Override
  public void init(AppContext context) {
    if (conf != null && conf.get(Keys.PREEMPTION_DELEGATE) != null) {
      try {
        delegate = Delegates.create(conf, Keys.PREEMPTION_DELEGATE, "");
      } catch (IOException misconfigured) {
        throw new IllegalArgumentException(misconfigured);
      }
    }
    delegate.init(context);
    try {
      if (conf != null && !guard.isOff()) {
        JobWatch.start(conf, context);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void preempt(Context context, PreemptionMessage requests) {
    delegate.preempt(context, requests);
  }

  @Override
  public boolean isPreempted(TaskAttemptId attempt) {
    return delegate.isPreempted(attempt);
  }

  @Override
  public void reportSuccessfulPreemption(TaskAttemptId attempt) {
    delegate.reportSuccessfulPreemption(attempt);
  }

  @Override
  public void handleFailedContainer(TaskAttemptId attempt) {
    delegate.handleFailedContainer(attempt);
  }

  @Override
  public void handleCompletedContainer(TaskAttemptId attempt) {
    delegate.handleCompletedContainer(attempt);
  }

  @Override
  public TaskCheckpointID getCheckpointID(TaskId task) {
    return delegate.getCheckpointID(task);
  }

  @Override
  public void setCheckpointID(TaskId task, TaskCheckpointID checkpoint) {
    delegate.setCheckpointID(task, checkpoint);
  }
}
