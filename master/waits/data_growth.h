// By how much longer the tasks of a stage ran because they read more than in earlier runs.
//
// They read B bytes and took T seconds in all; in earlier runs those of the same stage read b_1 ...
// b_n, of median b. Had their time gone with what they read, they would have taken T b / B:
//   growth        T (1 - b / B)                          seconds
//   lower, upper  likewise with the most and the least of b_1 ... b_n; none where n = 1
// Nothing is said unless B is more than b by at least a tenth of b, and by more than the earlier
// runs differ among themselves (most - least).
//
// Pure functions of plain values, thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/explanation.h"

namespace tidemark::blame {

// What the tasks of a stage read in earlier runs. Bytes, finite, above 0, in this order.
struct EarlierBytes {
  double least = 0;
  double median = 0;
  double most = 0;
  bool is_one = true;  // one stage of one run
  friend bool operator==(const EarlierBytes&, const EarlierBytes&) = default;
};

// What is not finite or not above 0 is not known, and left out. Empty: nothing is left.
// O(n log n).
std::optional<EarlierBytes> EarlierBytesOf(std::vector<double> bytes);

// What the stages of a job read in earlier runs.
struct EarlierData {
  std::optional<EarlierBytes> map_stage;  // of a MapReduce job
  // By signature, or by name where there is none. Stages that a run has several times are taken
  // together: which of them is which is not known.
  std::map<std::string, EarlierBytes> stages;
  friend bool operator==(const EarlierData&, const EarlierData&) = default;
};

// `task_seconds`, `bytes`: of the tasks that have ended. Empty: nothing is said; so of what is not
// finite or not above 0.
std::optional<DataGrowth> GrowthOf(double task_seconds, double bytes, const EarlierBytes& earlier);

// Limits stay known only where both are.
void Add(const DataGrowth& more, DataGrowth& sum);

}  // namespace tidemark::blame
