// What several runs of an application of Spark show of its parameters ([GB]): how much stages
// fetch, and how often they run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "master/forecast/durations/parameters.h"
#include "master/forecast/durations/white_box.h"
#include "whatif/phases/seen_range.h"
#include "whatif/spark_plan.h"

namespace tidemark::cli {

class SparkParameters {
 public:
  // `data_bytes`: that each of `runs` read. REQUIRES: at least one run.
  static absl::StatusOr<SparkParameters> Learn(const std::vector<SparkRun>& runs,
                                               const std::vector<double>& data_bytes);

  // For the correction of the phase models: numbers as powers of two.
  std::vector<double> Levels(const gray_box::Parameters& parameters) const;
  // By signature of a stage, how many times it fetches what it did in a run with other ones.
  std::map<std::string, double> Fetched(const gray_box::Parameters& ran,
                                        const gray_box::Parameters& asked) const;
  // How often stages of each work run. Only those that parameters are seen to change.
  std::map<std::uint64_t, std::uint32_t> Counts(const gray_box::Parameters& asked) const;
  // InvalidArgument names one that no run was told, or that all runs had as a number and that is
  // told to be none.
  absl::Status Check(const gray_box::Parameters& asked) const;
  // For people; what no run tells of these.
  std::vector<std::string> Remarks(const gray_box::Parameters& asked) const;

 private:
  // Notes what a run was told.
  void See(const gray_box::Parameters& parameters);
  // Numbers that varied together in all runs, and do not in `asked`.
  std::vector<std::string> Parted(const gray_box::Parameters& asked) const;
  explicit SparkParameters(gray_box::Features features) : features_(std::move(features)) {}

  gray_box::Features features_;
  std::vector<std::vector<double>> seen_;  // levels of each run
  std::vector<phases::SeenRange> ranges_;  // of the value of each feature
  std::map<std::string, gray_box::CardinalityModel> fetched_;
  std::vector<gray_box::RepetitionModel> counts_;  // at most one
};

}  // namespace tidemark::cli
