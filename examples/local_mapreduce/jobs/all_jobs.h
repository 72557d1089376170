// The jobs of this folder, based on [NF] Table 1.
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
// These functions return the jobs with the partitioners of [NF] 7.3. The partitioners distribute
// block products in turn, at random, or with the most expensive products on one reduce task.
JobDefinition MatMultOptJob();
JobDefinition MatMultRndJob();
JobDefinition MatMultUnbalJob();
JobDefinition SyntheticJob();
// These functions return the jobs of the web-log workflow.
JobDefinition ParseVisitsJob();
JobDefinition CountByPageJob();
JobDefinition RevenueByVisitorJob();
JobDefinition VisitHistogramJob();

const std::vector<JobDefinition>& AllJobs();

}  // namespace tidemark::examples
