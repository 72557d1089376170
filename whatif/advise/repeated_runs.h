// Finds runs of a program that repeat a past run, with equal plans on equal data from the first
// operator to the last. Keeping the results of the first run would have saved the others.
//
// Pure values and functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "whatif/advise/history.h"

namespace tidemark::advise {

struct RepeatedRuns {
  std::string program;
  std::size_t runs = 0;       // with the first
  double seconds = 0;         // total of the plans of all runs except the first
  double saved_seconds = 0;   // saved part of `seconds`, after reading the results
  bool has_own_code = false;  // functions of the program, compared by names and lines only
};

// Returns the groups of runs that repeat each other, the largest savings first. A run whose data or
// results are unknown or random repeats no other, and neither does a partial run.
//
//     saved = sum over the plans of later runs of max(end - begin of its stages - time of reading,
//     0)
std::vector<RepeatedRuns> RepeatedRunsIn(const History& history, double read_rate);

}  // namespace tidemark::advise
