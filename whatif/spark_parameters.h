// The effect of the parameters of a Spark program on how much its stages fetch and how often they
// run, learnt from several runs ([GB]).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "master/forecast/durations/parameters.h"
#include "whatif/phases/whole_runs.h"
#include "whatif/spark_run.h"

namespace tidemark::whatif {

// The size of the shuffle that a stage reads, by a part of the stage's name: a formula of the
// parameters (gray_box/formula.h). A parameter that is a list of words gives `letters.count` and,
// as 1 or 0, `letters.a`. Only the ratio of two values matters.
using StatedSizes = std::map<std::string, std::string>;

// For each signature of a stage of the run, returns the factor by which its fetched data grows from
// the parameters of the run to `asked`. Fails with InvalidArgument, which names the option and the
// remedy.
absl::StatusOr<std::map<std::string, double>> StatedFactors(const StatedSizes& sizes,
                                                            const SparkRun& run,
                                                            const durations::Parameters& asked);

class SparkParameters {
 public:
  // `data_bytes` contains the sizes of the inputs of `runs`. REQUIRES: at least one run.
  static absl::StatusOr<SparkParameters> Learn(const std::vector<SparkRun>& runs,
                                               const std::vector<double>& data_bytes);

  // Returns the parameters as exponents of two, for the correction of the phase models.
  std::vector<double> Levels(const durations::Parameters& parameters) const;
  // For each signature of a stage, returns the factor by which its fetched data grows from a run
  // with the parameters `ran` to a run with `asked`.
  std::map<std::string, double> Fetched(const durations::Parameters& ran,
                                        const durations::Parameters& asked) const;
  // Returns how often stages run, by work, for stages whose number depends on parameters.
  std::map<std::uint64_t, std::uint32_t> Counts(const durations::Parameters& asked) const;
  // Returns InvalidArgument for a parameter that no run had, or for a value that is not a number if
  // all runs had numbers.
  absl::Status Check(const durations::Parameters& asked) const;
  // Returns human-readable remarks on effects of these parameters that no run shows.
  std::vector<std::string> Remarks(const durations::Parameters& asked) const;

 private:
  // Adds the parameters of a run to the ranges.
  void See(const durations::Parameters& parameters);
  // Returns the parameters that varied together in all runs, but do not in `asked`.
  std::vector<std::string> Parted(const durations::Parameters& asked) const;
  explicit SparkParameters(durations::Features features) : features_(std::move(features)) {}

  durations::Features features_;
  std::vector<std::vector<double>> seen_;      // levels of each run
  std::vector<phases::ObservedRange> ranges_;  // values of each feature
  std::map<std::string, durations::CardinalityModel> fetched_;
  std::vector<durations::RepetitionModel> counts_;  // exactly one model
};

}  // namespace tidemark::whatif
