package org.tidemark.hadoop;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.split.SplitMetaInfoReader;
import org.tidemark.hadoop.transport.Sender;
import org.tidemark.hadoop.wire.Attempt;
import org.tidemark.hadoop.wire.AttemptNews;
import org.tidemark.hadoop.wire.Events;

/**
 * A job of the LocalJobRunner, which has no application master: its tasks tell of their own start
 * and end, and the last reduce task of the end of the job. A failure shows as silence only.
 */
final class LocalJob {
  private static final Map<JobID, LocalJob> RUNNING = new HashMap<>();

  private final JobID id;
  private final Sender sender;
  private final int reduceTasks;
  private final long[] splitBytes;
  private final Set<Integer> reducesDone = new HashSet<>();

  private LocalJob(JobID id, JobConf job, Sender sender) {
    this.id = id;
    this.sender = sender;
    reduceTasks = job.getNumReduceTasks();
    splitBytes = splitBytes(id, job);
  }

  static LocalJob of(JobID id, JobConf job, Sender sender) {
    synchronized (RUNNING) {
      return RUNNING.computeIfAbsent(id, newId -> new LocalJob(newId, job, sender));
    }
  }

  /** The length of each split by map task; empty when it cannot be read. bytes */
  static long[] splitBytes(JobID id, JobConf job) {
    try {
      final Path directory = new Path(job.get(MRJobConfig.MAPREDUCE_JOB_DIR));
      final FileSystem files = directory.getFileSystem(job);
      return Arrays.stream(
              SplitMetaInfoReader.readSplitMetaInfo(id, files, job, directory))
          .mapToLong(split -> split.getInputDataLength())
          .toArray();
    } catch (Exception notToBeHad) {
      return new long[0];
    }
  }

  void started(Attempt attempt) {
    final AttemptNews news = news(attempt, Events.State.STARTED);
    if (attempt.isMap && attempt.index < splitBytes.length) {
      news.inputBytes = splitBytes[attempt.index];
    }
    sender.send(Events.attemptChanged(news));
  }

  /** True when the job is over, too. */
  boolean finished(Attempt attempt) {
    sender.send(Events.attemptChanged(news(attempt, Events.State.FINISHED)));
    if (attempt.isMap) {
      return false;
    }
    synchronized (RUNNING) {
      reducesDone.add(attempt.index);
      if (reducesDone.size() < reduceTasks) {
        return false;
      }
      RUNNING.remove(id);
    }
    sender.send(Events.jobClosed(Events.Outcome.SUCCEEDED, "", System.currentTimeMillis()));
    return true;
  }

  private static AttemptNews news(Attempt attempt, Events.State state) {
    final AttemptNews news = new AttemptNews(attempt, state);
    news.atMillis = System.currentTimeMillis();
    news.host = "localhost";
    return news;
  }
}
