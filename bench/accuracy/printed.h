// The errors of progress indicators that the NearestFit paper prints ([NF] Table 2), for 8 workers,
// one wave, and the reduce phase alone.
#pragma once

#include <optional>
#include <string>

namespace tidemark::bench {

// Errors in percentage points.
struct PrintedError {
  double average = 0;
  double largest = 0;
};

// Returns the means over the paper's data sets for a job, or over all its rows if `job` is empty.
// Returns nullopt if the paper does not contain the job or the indicator.
std::optional<PrintedError> PrintedErrorOf(const std::string& job, const std::string& indicator);

}  // namespace tidemark::bench
