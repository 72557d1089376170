// Compares two runs: their times, stages, data and waits. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console/text.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"

namespace tidemark::console {

// A run to compare. A running job is compared as of its newest snapshot.
struct ComparedRun {
  std::string name;  // heading of its column
  Snapshot job;
  std::optional<Explanation> waits;  // nullopt if unknown
};

enum class ComparedUnit { kSeconds, kBytes, kCount };

// A quantity in two runs. A value is unset if the run does not have the quantity, or if it is
// unknown.
struct ComparedValue {
  std::string what;  // "time", "reduce", "reduce, input", "waits for CPU"
  ComparedUnit unit = ComparedUnit::kSeconds;
  std::optional<double> before;
  std::optional<double> after;
  bool is_stage = false;  // whether the value is the time of a stage, or of a job of a workflow
  friend bool operator==(const ComparedValue&, const ComparedValue&) = default;
};

// Returns the values of `before` and `after`: the time, the first forecast, the tasks, the failed
// attempts and the input of the job, then the time and the input of each stage, then the waits.
// Stages are matched by name, and stages with equal names by their order. O(n log n) for n stages.
std::vector<ComparedValue> CompareRuns(const ComparedRun& before, const ComparedRun& after);

// Returns a sentence about the time, the stage whose time differs most, and its input:
//   nightly-17 took 19 s longer (44 %); reduce took 18 s longer, with 58 % more input
// If a run has not ended, returns a sentence about its missing end instead.
std::string ComparisonSentence(const ComparedRun& before, const ComparedRun& after,
                               const std::vector<ComparedValue>& values);

// The cells of each value, without a heading. The table shows the 12 stages whose times differ
// most.
struct ComparisonTable {
  std::vector<Row> rows;
  std::size_t stages_left_out = 0;
};
ComparisonTable DescribeComparison(const std::vector<ComparedValue>& values,
                                   const TextOptions& options);

// Returns a line for each value, but only of the 12 stages whose times differ most.
std::vector<std::string> RenderComparison(const ComparedRun& before, const ComparedRun& after,
                                          const std::vector<ComparedValue>& values,
                                          const TableOptions& options);

}  // namespace tidemark::console
