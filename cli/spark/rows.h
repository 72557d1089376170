// The rows of `tidemark what-if` on an event log of Spark: one for each combination of the settings
// that are asked about. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/command_line.h"

namespace tidemark::cli {

struct SparkRow {
  std::vector<std::string> parts;               // of its name, for people; empty: as it is
  std::map<std::string, std::string> settings;  // of Spark, that are changed
  std::optional<double> data_factor;
};

// InvalidArgument: options that say the same thing twice; more rows than a table for people has.
absl::StatusOr<std::vector<SparkRow>> RowsOf(const WhatIfArguments& arguments);

// The same error, of the option that was given where it begins with the setting that this stands
// for: "--memory: ..." for "spark.executor.memory: ...".
absl::Status InOptions(const absl::Status& status, const WhatIfArguments& arguments);

}  // namespace tidemark::cli
