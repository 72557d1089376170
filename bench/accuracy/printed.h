// The errors of progress indicators that the NearestFit paper prints ([NF] Table 2: 8 workers, one
// wave, reduce phase alone).
#pragma once

#include <optional>
#include <string>

namespace tidemark::bench {

// Percentage points.
struct PrintedError {
  double average = 0;
  double largest = 0;
};

// Returns the means over the paper's data sets of a job, or over all its rows if `job` is empty.
// Returns nullopt if the paper has no such job or indicator.
std::optional<PrintedError> PrintedErrorOf(const std::string& job, const std::string& indicator);

}  // namespace tidemark::bench
