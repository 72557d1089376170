// Computes the predictions of indicators for a real run of a job, from its event log.
//
// The log contains all events and the times of snapshots, so any indicator can be evaluated.
// Deterministic.
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
  std::optional<PastRun> run;  // the past run that a later run of the job would use
};

// `past_runs` are the past runs that the indicators use.
//
// Times are seconds from the start of the job, and predictions cover its end, including map and
// shuffle. The timeline contains the attempts at reduce tasks, each in the lowest free slot, but
// not the ends of their key groups. The results contain no oracle. Returns an error such as
// InvalidArgument or DataLoss if the log is unreadable, and FailedPrecondition if the job did not
// succeed.
absl::StatusOr<JudgedLog> JudgeLog(const std::string& path,
                                   const std::vector<std::string>& indicators,
                                   std::span<const PastRun> past_runs = {});

}  // namespace tidemark::bench
