package org.tidemark.hadoop.cost;

import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Random;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskServer;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.input.KeyValueTextInputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.mapreduce.security.TokenCache;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitIndex;
import org.apache.hadoop.mapreduce.split.JobSplitWriter;
import org.apache.hadoop.mapreduce.split.SplitMetaInfoReader;
import org.apache.hadoop.security.Credentials;

/**
 * The services that tasks need, for bench/hadoop/cost.py. Assigns tasks until its standard input
 * ends. Tasks of job_1_* have little input, and tasks of job_2_* have the given amount. Prints its
 * port. Writes the files of a node manager to its folder, which are the settings of a job with and
 * without the connector, and a token.
 *
 * <p>Arguments: the folder, the address of the master, the bytes of the larger input, and the
 * number of records of a reduce task.
 */
public final class TaskHost {
  private static final int REDUCES = 4;
  private static final long LITTLE_BYTES = 1_000;
  private static final int ROW_BYTES = 100;
  private static final int KEY_BYTES = 10;

  private final File folder;

  private TaskHost(File folder) {
    this.folder = folder;
  }

  public static void main(String[] arguments) throws Exception {
    final TaskHost host = new TaskHost(new File(arguments[0]));
    final String user = System.getProperty("user.name");
    try (TaskServer tasks = new TaskServer(new JobConf(), user)) {
      final Credentials secrets = new Credentials();
      TokenCache.setJobToken(tasks.token(), secrets);
      secrets.writeTokenStorageFile(new Path("file://" + host.folder + "/tokens"), new JobConf());
      tasks.addJobs("job_1", host.split("little", LITTLE_BYTES));
      tasks.addJobs("job_2", host.split("usual", Long.parseLong(arguments[2])));
      for (String records : new String[] {"1", arguments[3]}) {
        host.write(plain(user, records), "plain-" + records);
        host.write(watched(user, records, arguments[1]), "watched-" + records);
      }
      System.out.println(tasks.port());
      while (System.in.read() >= 0) {
        // Waits until the parent process closes standard input.
      }
    }
    System.exit(0);
  }

  private static JobConf plain(String user, String records) {
    final JobConf job = new JobConf();
    job.setJobName("cost");
    job.set(MRJobConfig.USER_NAME, user);
    job.set(MRConfig.FRAMEWORK_NAME, MRConfig.YARN_FRAMEWORK_NAME);
    job.setNumReduceTasks(REDUCES);
    job.setUseNewMapper(true);
    job.setUseNewReducer(true);
    job.set(MRJobConfig.INPUT_FORMAT_CLASS_ATTR, KeyValueTextInputFormat.class.getName());
    job.set(MRJobConfig.OUTPUT_FORMAT_CLASS_ATTR, NullOutputFormat.class.getName());
    job.set(MRJobConfig.REDUCE_CLASS_ATTR, CountingReducer.class.getName());
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Text.class);
    job.set(MadeRecords.COUNT, records);
    job.set("mapreduce.job.map.output.collector.class", TimedCollector.Outer.class.getName());
    job.set(TimedCollector.BEHIND + "outer", TimedCollector.Inner.class.getName());
    job.set(TimedCollector.BEHIND + "inner", "org.apache.hadoop.mapred.MapTask$MapOutputBuffer");
    job.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, TimedShuffle.class.getName());
    job.set(TimedShuffle.BEHIND, MadeRecords.class.getName());
    return job;
  }

  private static JobConf watched(String user, String records, String master) {
    final JobConf job = plain(user, records);
    job.set("tidemark.master", master);
    job.set(TimedCollector.BEHIND + "outer", "org.tidemark.hadoop.TidemarkCollector");
    job.set("tidemark.collector.delegate", TimedCollector.Inner.class.getName());
    job.set(TimedShuffle.BEHIND, "org.tidemark.hadoop.TidemarkShuffle");
    job.set("tidemark.shuffle.delegate", MadeRecords.class.getName());
    return job;
  }

  private void write(JobConf job, String name) throws IOException {
    try (OutputStream out = new FileOutputStream(new File(folder, name + ".xml"))) {
      job.writeXml(out);
    }
  }

  /** Returns a split with its own input. */
  private TaskSplitIndex split(String name, long bytes) throws Exception {
    final JobConf job = new JobConf();
    final Path directory = new Path("file://" + folder + "/" + name);
    final FileSystem files = directory.getFileSystem(job);
    files.mkdirs(directory);
    final File input = new File(folder, name + "/input");
    writeRows(input, bytes);
    final FileSplit[] splits = {
      new FileSplit(new Path("file://" + input), 0, input.length(), new String[0])
    };
    JobSplitWriter.createSplitFiles(directory, job, files, splits);
    return SplitMetaInfoReader.readSplitMetaInfo(new JobID("", 0), files, job, directory)[0].getSplitIndex();
  }

  /**
   * Writes rows of 100 bytes. Keys have 10 digits and are in no order. Values have 64 letters,
   * which hardly compress.
   */
  private static void writeRows(File file, long bytes) throws IOException {
    final byte[] row = new byte[ROW_BYTES];
    row[KEY_BYTES] = '\t';
    row[ROW_BYTES - 1] = '\n';
    final Random random = new Random(1);
    try (OutputStream out = new BufferedOutputStream(new FileOutputStream(file), 1 << 16)) {
      for (long written = 0; written < bytes; written += ROW_BYTES) {
        for (int i = 0; i < KEY_BYTES; ++i) {
          row[i] = (byte) ('0' + random.nextInt(10));
        }
        for (int i = KEY_BYTES + 1; i < ROW_BYTES - 1; ++i) {
          row[i] = (byte) ('0' + random.nextInt(64));
        }
        out.write(row);
      }
    }
  }
}
