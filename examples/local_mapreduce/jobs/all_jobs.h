// The jobs of this folder, after [NF] Table 1.
#pragma once

#include <vector>

#include "examples/local_mapreduce/job.h"

namespace tidemark::examples {

JobDefinition WordCountJob();
JobDefinition WordCountWithoutCombinerJob();
JobDefinition InvertedIndexJob();
JobDefinition TwoPathJob();
JobDefinition TriangleCountJob();
JobDefinition NaturalJoinJob();
// The partitioners of [NF] 7.3: block products in turn, at random, and with the heaviest ones on
// one reduce task.
JobDefinition MatMultOptJob();
JobDefinition MatMultRndJob();
JobDefinition MatMultUnbalJob();
JobDefinition SyntheticJob();
// A job of the workflow web-log.
JobDefinition ParseVisitsJob();
JobDefinition CountByPageJob();
JobDefinition RevenueByVisitorJob();
JobDefinition VisitHistogramJob();

const std::vector<JobDefinition>& AllJobs();

}  // namespace tidemark::examples
