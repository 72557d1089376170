// Findings about the time that a query lost, and their wording: the same for the table of `why`,
// its JSON, the page and the paragraph at the end of a job. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/explanation.h"

namespace tidemark::console {

// A tenth of what it is a part of.
bool IsWorthTelling(double seconds, double of_seconds);

struct FoundWait {
  WaitedResource resource = WaitedResource::kScheduler;
  double seconds = 0;
  bool is_least = false;             // it may be more, by an unknown amount
  const Culprit* culprit = nullptr;  // of the query; null if none is reported
  bool is_cause_left_out = false;    // a culprit may be among the ones beyond the limit
};

// Returns a query as others call it: "sql/3" of `job_id` itself, "app-7/sql/3" of another job,
// "another job" of one that may not be seen, "processes outside Tidemark" where none reports.
std::string CulpritName(const std::string& job_id, const Culprit& culprit);

// Returns the waits that are blamed on others, the worst first, then the waits without a known
// cause. `culprits_max`: the limit of the request. The query must outlive the result.
std::vector<FoundWait> FoundWaits(const QueryWaits& query, std::size_t culprits_max);

// The waits of a query for one resource.
struct WaitFinding {
  WaitedResource resource = WaitedResource::kScheduler;
  double seconds = 0;
  // "sql/3 waited at least 25 s of 33 s for a processor: about 12 s (0-26 s) behind processes
  // outside Tidemark on vm, about 8.0 s behind app-7 on vm". Without a full stop.
  std::string sentence;
  bool blames_jobs = false;  // a job is among the causes, and might run at another time
};

// Returns a finding for each resource that the query waited for, the longest wait first.
// `culprits_max`: the limit of the request.
std::vector<WaitFinding> WaitFindings(const Explanation& explanation, const QueryWaits& query,
                                      std::size_t culprits_max, bool unicode);

// The longest task, if it took longer than a mean one by what is worth telling, or one key group
// made it long; else null.
const LongestTask* FoundLongestTask(const QueryWaits& query);

// Whether at least half of its time went into one key group.
bool IsInOneGroup(const LongestTask& task);

// "at least ", or nothing.
std::string_view AtLeast(bool is_least);

// As ElapsedText().
std::string SecondsText(double seconds);

// " (6.0-9.5 s)", " (30-52 s)"; nothing where the limits are not told, or closer than the last
// digit of SecondsText(seconds). The dash is an en dash with `unicode`.
std::string LimitsText(double seconds, const std::optional<double>& lower,
                       const std::optional<double>& upper, bool unicode);

// "for a slot", "for a processor": what a task does that waits for it.
std::string_view WaitedFor(WaitedResource resource);

// "reduce task 2 on node-3", "task 2 of stage 5, attempt 1".
std::string LongestTaskText(const LongestTask& task);

// "2 min 05 s (a mean task of its stage 40 s)", with ", 1 min 50 s of that in one key group of 1.2
// MB" where that made it long.
std::string LongestTaskTimes(const LongestTask& task);

// "stages of it read 20.0 GB, in earlier runs 10.0 GB: that took their tasks about 40 s (30-48 s)
// more, summed over tasks".
std::string GrowthText(const DataGrowth& growth, bool unicode);

}  // namespace tidemark::console
