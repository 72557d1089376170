package org.apache.hadoop.mapred;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.security.token.JobTokenIdentifier;
import org.apache.hadoop.mapreduce.security.token.JobTokenSecretManager;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitIndex;
import org.apache.hadoop.security.token.Token;

/**
 * Represents the application master for the processes of tasks. Assigns tasks, and accepts all
 * reports. The class is in Hadoop's package, since only classes of that package may create tasks
 * and identify the calling process. Thread-safe.
 */
public final class TaskServer implements AutoCloseable {
  private static final int MAP_TASKS = 1;

  private final String user;
  private final Map<String, TaskSplitIndex> splits = new ConcurrentHashMap<>();
  private final JobTokenSecretManager secrets = new JobTokenSecretManager();
  private final RPC.Server server;

  public TaskServer(Configuration conf, String user) throws IOException {
    this.user = user;
    server =
        new RPC.Builder(conf)
            .setProtocol(TaskUmbilicalProtocol.class)
            .setInstance(umbilical())
            .setBindAddress("127.0.0.1")
            .setPort(0)
            .setNumHandlers(2)
            .setVerbose(false)
            .setSecretManager(secrets)
            .build();
    server.start();
  }

  public int port() {
    return server.getListenerAddress().getPort();
  }

  /** Sets the split that map tasks read in jobs whose ids have this prefix, such as "job_1". */
  public void addJobs(String prefix, TaskSplitIndex split) {
    splits.put(prefix, split);
  }

  /** Returns the token with which a task's process of any job is admitted. */
  public Token<JobTokenIdentifier> token() {
    final String name = "any job";
    final Token<JobTokenIdentifier> token =
        new Token<>(new JobTokenIdentifier(new Text(name)), secrets);
    secrets.addTokenForJob(name, token);
    return token;
  }

  private TaskUmbilicalProtocol umbilical() {
    return (TaskUmbilicalProtocol)
        Proxy.newProxyInstance(
            TaskServer.class.getClassLoader(),
            new Class<?>[] {TaskUmbilicalProtocol.class},
            (proxy, method, arguments) -> answer(method.getName(), arguments));
  }

  private Object answer(String method, Object[] arguments) {
    switch (method) {
      case "getTask":
        return new JvmTask(taskFor(((JvmContext) arguments[0]).jvmId), false);
      case "statusUpdate":
        final AMFeedback feedback = new AMFeedback();
        feedback.setTaskFound(true);
        return feedback;
      case "canCommit":
        return true;
      case "getProtocolVersion":
        return TaskUmbilicalProtocol.versionID;
      case "hashCode":
        return 0;
      case "fsError":
      case "fatalError":
        System.err.println(arguments[0] + ": " + arguments[1]);
        return null;
      default:
        return null;
    }
  }

  /** Returns the task of a process. Task and process have the same number. */
  private Task taskFor(JVMId jvm) {
    final int index = (int) jvm.getId();
    final TaskType type = jvm.isMapJVM() ? TaskType.MAP : TaskType.REDUCE;
    final TaskAttemptID id = new TaskAttemptID(new TaskID(jvm.getJobId(), type, index), 0);
    final Task task =
        jvm.isMapJVM()
            ? new MapTask("", id, index, splitOf(jvm.getJobId()), 1)
            : new ReduceTask("", id, index, MAP_TASKS, 1);
    task.setUser(user);
    return task;
  }

  private TaskSplitIndex splitOf(JobID job) {
    return splits.get("job_" + job.getJtIdentifier());
  }

  @Override
  public void close() {
    server.stop();
  }
}
