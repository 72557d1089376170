// What the tasks of a job that has not begun will take, from its earlier runs.
//
// Each run's measured task time is scaled by what bottleneck oriented estimation ([BOE] 4.2) says
// of the task then and now: other data in a task, another number of tasks on a node. The runs'
// times are averaged as logarithms; how far they lie apart, and how far runs of the same work
// differ anyhow, is the deviation of what is expected.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "master/forecast/durations/time_distribution.h"
#include "tidemark/job_profile.h"
#include "tidemark/plan.h"
#include "tidemark/stage_profile.h"

namespace tidemark::workflow {

struct ExpectedPhase {
  std::uint64_t tasks = 0;
  cost::TimeDistribution times;  // seconds; empty: not known
  std::string bottleneck;        // empty: the node is unknown
};

// Earlier runs of an application of stages, the most recent first; at least one.
using StageRuns = std::vector<RunProfile>;

struct ExpectedJob {
  ExpectedPhase map;
  ExpectedPhase reduce;
  // Of an application of stages, whose tasks are all in `map`, too; null: of a MapReduce job.
  std::shared_ptr<const StageRuns> stages;
  double deviation = 0;   // of the log of a factor common to all its tasks
  bool is_known = false;  // some run or profile backs it
};

// `runs`: the most recent first; the job's own profile goes before them. `data_factor`: so many
// times the data, in as many times more map tasks, whose time stays, and as many reduce tasks as
// before, each with as many times the data, whatever is known of the bytes. Without runs
// or a profile only the numbers of tasks that the job names are known. O(runs).
ExpectedJob ExpectJob(const PlannedJob& job, std::span<const JobProfile> runs,
                      const Cluster& cluster, double data_factor);

// `runs`, null or not, with so many times the data: more tasks in stages that read them, and longer
// ones in those behind. O(1) of data as before, else O(stages + task times).
std::shared_ptr<const StageRuns> WithData(std::shared_ptr<const StageRuns> runs,
                                          double data_factor);

// A run of an application of stages as one of a job that has map tasks alone. O(stages + times)
JobProfile AsOnePhase(const RunProfile& run);

// Of a stage of an earlier run, the mean of its task times; 0: it has none. seconds
double MeanTaskSeconds(const StageProfile& stage);

// What the job would take alone on `slots`, without its deviation; 0 when it is not known.
double SecondsAlone(const ExpectedJob& expected, double slots);

}  // namespace tidemark::workflow
