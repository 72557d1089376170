#include "examples/local_mapreduce/jobs/all_jobs.h"

namespace tidemark::examples {

const std::vector<JobDefinition>& AllJobs() {
  static const std::vector<JobDefinition> jobs = {
      WordCountJob(),        WordCountWithoutCombinerJob(),
      InvertedIndexJob(),    TwoPathJob(),
      TriangleCountJob(),    NaturalJoinJob(),
      MatMultOptJob(),       MatMultRndJob(),
      MatMultUnbalJob(),     SyntheticJob(),
      ParseVisitsJob(),      CountByPageJob(),
      RevenueByVisitorJob(), VisitHistogramJob(),
  };
  return jobs;
}

}  // namespace tidemark::examples
