package org.tidemark.hadoop;

import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * Determines whether a combiner shrinks the map output, so that reduce tasks may see smaller key
 * groups.
 */
final class Combiners {
  private static final String OLD_API = "mapred.combiner.class";

  private Combiners() {}

  static boolean has(JobConf job) {
    return job.get(MRJobConfig.COMBINE_CLASS_ATTR) != null || job.get(OLD_API) != null;
  }
}
