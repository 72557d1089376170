// What indicators would have said of a job that really ran, from its event log.
//
// The log has everything a master was told and when it made its snapshots; other indicators can be
// judged by it than those that watched. Deterministic.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/accuracy/simulate.h"
#include "tidemark/past_run.h"

namespace tidemark::bench {

struct JudgedLog {
  Simulation simulation;
  std::optional<PastRun> run;  // as later runs of the job would know it
};

// `past_runs` are what the indicators know of earlier runs of the job.
//
// Times are seconds from the start of the job, and predictions are of its end: map and shuffle are
// part of it. The timeline has the attempts at reduce tasks, each in the lowest slot that was free
// when it started, without the ends of their key groups; there is no oracle.
// InvalidArgument, DataLoss, ...: a log that cannot be read; FailedPrecondition: the job has not
// succeeded, so that when it would have ended is unknown.
absl::StatusOr<JudgedLog> JudgeLog(const std::string& path,
                                   const std::vector<std::string>& indicators,
                                   std::span<const PastRun> past_runs = {});

}  // namespace tidemark::bench
