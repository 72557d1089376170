// Causes of a slow query other than waits for other queries: its tasks read more than in past runs,
// or one key group took long. The functions are pure and thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"

namespace tidemark::waits {

// The bytes that the tasks of a stage read in past runs. All are finite and positive, in ascending
// order.
struct PastBytes {
  double least = 0;
  double median = 0;
  double most = 0;
  bool is_one = true;  // true if there is only one stage of one run
  friend bool operator==(const PastBytes&, const PastBytes&) = default;
};

// Ignores values that are not finite or not positive. Returns nullopt if no value remains. O(n log
// n).
std::optional<PastBytes> PastBytesOf(std::vector<double> bytes);

// The input of a job's stages in past runs.
struct PastInput {
  std::optional<PastBytes> map_stage;  // set for a MapReduce job
  // By signature, or by name if a stage has no signature. Stages that occur several times in a run
  // share an entry, since they cannot be distinguished.
  std::map<std::string, PastBytes> stages;
  friend bool operator==(const PastInput&, const PastInput&) = default;
};

// Returns the additional time that the ended tasks of a stage took because they read more than in
// past runs. Returns nullopt if it is unknown or negligible.
//
// The tasks read B bytes in T seconds in total. In past runs, tasks of the same stage read b_1 ...
// b_n, with median b. If their time is proportional to their input, they would have taken T b / B:
//   growth        T (1 - b / B)                                   seconds
//   lower, upper  growth with the largest and the smallest of b_1 ... b_n; unknown for n = 1
// Growth is negligible unless B exceeds b by a tenth of b and by the spread of past runs (most -
// least). Arguments that are not finite or not positive give nullopt.
std::optional<DataGrowth> GrowthOf(double task_seconds, double bytes, const PastBytes& past);

// Adds `more` to `sum`. If either has unknown limits, so has the sum.
void Add(const DataGrowth& more, DataGrowth& sum);

// The key group that took longest among those timed individually.
struct LongestGroup {
  std::uint64_t size_bytes = 0;
  absl::Duration time;  // zero if no group was timed individually
  friend bool operator==(const LongestGroup&, const LongestGroup&) = default;
};

// Ignores times that are infinite or negative. O(points + bins + finished keys).
LongestGroup LongestGroupOf(const ReduceProfile& profile);

}  // namespace tidemark::waits
