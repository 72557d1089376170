// Findings about the time that a query lost, as sentences. They are used by the table of `why`, its
// JSON, the page and the summary of a job. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/explanation.h"

namespace tidemark::console {

// Shorter waits, in seconds, are not shown.
inline constexpr double kSecondsShown = 0.05;

// Returns true if the part is at least a tenth of the whole.
bool IsNotable(double seconds, double of_seconds);

struct FoundWait {
  WaitReason resource = WaitReason::kSlots;
  double seconds = 0;
  bool is_least = false;                   // true if the wait is a lower bound
  const ContendingQuery* cause = nullptr;  // null if none is reported
  bool is_cause_left_out = false;          // true if the limit on causes may have removed it
};

// Returns the name of a cause: "sql/3" for a query of `job_id` itself, "app-7/sql/3" for a query of
// another job, "another job" if the user may not see the job, or "processes outside Tidemark" if no
// job is known.
std::string CauseName(const std::string& job_id, const ContendingQuery& cause);

// Returns the waits with a known cause, longest first, then all other waits. `culprits_max` is the
// limit of the request. The query must outlive the result.
std::vector<FoundWait> FoundWaits(const QueryWaits& query, std::size_t culprits_max);

struct WaitFinding {
  WaitReason resource = WaitReason::kSlots;
  double seconds = 0;
  // A sentence such as "sql/3 waited at least 25 of 33 s for CPU on vm: about 12 s (0-26 s) behind
  // processes outside Tidemark, about 8 s behind job app-7". Has no full stop.
  std::string sentence;
  bool blames_jobs = false;  // true if a job is among the causes and could run at another time
};

// Returns a finding for each wait reason, longest wait first. `culprits_max` is the limit of the
// request.
std::vector<WaitFinding> WaitFindings(const Explanation& explanation, const QueryWaits& query,
                                      std::size_t culprits_max, bool unicode);

// Returns the longest task if it is notably longer than a mean task, or if one key group made it
// long. Otherwise returns null.
const LongestTask* FoundLongestTask(const QueryWaits& query);

// Returns true if one key group took at least half of the task's time.
bool IsInOneGroup(const LongestTask& task);

// Returns "at least " for a lower bound, otherwise "".
std::string_view AtLeast(bool is_least);

// Returns a time such as "8 s" or "1 min 30 s", or with tenths below one second, such as "0.4 s".
std::string SecondsText(double seconds);

// Returns " (30-52 s)", or an empty string if a limit is missing or both are equal after rounding.
// If `unicode` is true, the dash is an en dash.
std::string LimitsText(double seconds, const std::optional<double>& lower,
                       const std::optional<double>& upper, bool unicode);

// Returns "reduce task 2 on node-3" or "task 2 of stage 5, attempt 1".
std::string LongestTaskText(const LongestTask& task);

// Returns "2 min 05 s (mean of its stage: 40 s)". If a key group made the task long, appends ", 1
// min 50 s of that in one key group of 1.2 MB".
std::string LongestTaskTimes(const LongestTask& task);

// Returns the predicate for the stages of a query: "read 20.0 GB (past runs: 10.0 GB), which cost
// their tasks about 40 s (30-48 s) in total".
std::string GrowthText(const DataGrowth& growth, bool unicode);

}  // namespace tidemark::console
