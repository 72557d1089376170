// How much every stage hands on, and how often it runs, as functions of what the program was told
// ([GB] 4.1, 5.1): the white box.
//
// Pure, deterministic, thread-safe when const.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "master/forecast/durations/parameters.h"
#include "regression/linear_model.h"

namespace tidemark::gray_box {

// What a stage, or an operator, read and wrote in all of its tasks.
struct Cardinality {
  double records_in = 0;
  double bytes_in = 0;
  double records_out = 0;
  double bytes_out = 0;
};

struct CardinalityForecast {
  Forecast records;  // that come out
  Forecast width;    // of one of them, bytes
};

// Of one stage: out over in of records, and of the width of a record. Runs in which nothing came in
// say nothing and are left out; where nothing came out there is no width.
class CardinalityModel {
 public:
  // One for each run. InvalidArgument: not as many of both, numbers that are negative or not
  // finite; FailedPrecondition: nothing came in in any run.
  static absl::StatusOr<CardinalityModel> Learn(std::span<const Parameters> parameters,
                                                std::span<const Cardinality> runs);

  // Of as much input as that. Never negative.
  CardinalityForecast Predict(const Parameters& parameters, double records_in,
                              double width_in) const;
  // What changes the number of records (conditions), and what their width (field selection).
  const std::vector<Choice>& conditions() const { return records_.choices(); }
  const std::vector<Choice>& field_selections() const { return width_.choices(); }

 private:
  CardinalityModel(Features features, LinearModel records, LinearModel width)
      : features_(std::move(features)), records_(std::move(records)), width_(std::move(width)) {}
  Features features_;
  LinearModel records_;
  LinearModel width_;
};

// How often stages of each kind of work (StageOpened.work) ran in one run: PageRank repeats stages,
// K-Means jobs, and both show as counts of stages that do the same.
using StageCounts = std::map<std::uint64_t, std::uint32_t>;

// What the number of iterations makes of the number of stages: the workflow.
class RepetitionModel {
 public:
  // A kind of work that a run lacks ran 0 times. Errors as above.
  static absl::StatusOr<RepetitionModel> Learn(std::span<const Parameters> parameters,
                                               std::span<const StageCounts> runs);

  // Of each kind of work; whole numbers, not negative.
  std::map<std::uint64_t, Forecast> Predict(const Parameters& parameters) const;
  // What changes how often something runs; of each kind of work that is not static.
  std::map<std::uint64_t, std::vector<Choice>> workflow_controls() const;

 private:
  explicit RepetitionModel(Features features) : features_(std::move(features)) {}
  Features features_;
  std::map<std::uint64_t, LinearModel> counts_;
};

}  // namespace tidemark::gray_box
