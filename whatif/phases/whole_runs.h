// Estimates the duration of a whole run from the settings of past runs, without a model of its
// stages.
//
// The log of the duration is a linear function of the settings (LevelsOf(), correction.h). The
// estimate covers settings near past runs only: executors and cores within their range, and other
// settings beyond their range by at most its width. It is averaged with the estimate from stages,
// each weighted by its confidence. See
// docs/internals/adr/0048-average-the-models-with-a-fit-of-whole-runs.md.
//
// Pure, deterministic, thread-safe when const. Cost: that of Correction, for one time per run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/phases/correction.h"
#include "whatif/phases/scaling.h"
#include "whatif/phases/settings.h"
#include "whatif/phases/task.h"

namespace tidemark::phases {

// Levels are settings as numbers: powers of two for amounts that multiply, 0 and 1 for switches.
// The log of a time is assumed to be a linear function of them.

// Scale of levels that have an effect over many doublings only: memory, and files of a shuffle.
inline constexpr double kOfManyDoublings = 0.25;

// Returns 0 for a value below 1.
double Log2(double value);

// Returns the levels of a stage, followed by `others`.
std::vector<double> LevelsOf(const Settings& settings, double data_bytes, const Stage& stage,
                             const std::vector<double>& others);
// Returns the same number of levels for a whole run.
std::vector<double> LevelsOfWhole(const Settings& settings, double data_bytes,
                                  const std::vector<double>& others);

// Moves the levels of executors and cores to the nearest ones of past runs, and returns by how many
// doublings of both. A line through the effects of tasks on one another has no limit beyond these.
// REQUIRES: at least one past run.
double HoldSlots(const std::vector<std::vector<double>>& past, std::vector<double>& levels);

// Returns a group for each level. The importance of the levels of a group is learnt jointly.
std::vector<std::size_t> GroupsOf(std::size_t others);

// The range of a value in past runs. Plain value.
class ObservedRange {
 public:
  // An empty range: every value is beyond it.
  ObservedRange() = default;

  void Add(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }

  double least() const { return least_; }
  double most() const { return most_; }
  double width() const { return most_ - least_; }  // REQUIRES: the range is not empty

  // Returns true if the value is outside by more than `tolerance`, or is not a number.
  bool IsBeyond(double value, double tolerance = 0) const {
    return !(value >= least_ - tolerance && value <= most_ + tolerance);
  }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

struct PastWhole {
  std::vector<double> levels;  // levels of its settings; all runs have the same number of them
  double seconds = 0;          // above 0
};

class WholeRunModel {
 public:
  // A model without runs.
  WholeRunModel() = default;
  // Fewer than four runs give a model without estimates. `groups` and errors as for
  // Correction::Learn().
  static absl::StatusOr<WholeRunModel> Learn(std::span<const PastWhole> runs,
                                             std::span<const std::size_t> groups);

  // Returns nullopt if there are too few runs or none of them is near.
  std::optional<WholeEstimate> At(const std::vector<double>& levels) const;

 private:
  double mean_log_seconds_ = 0;
  std::vector<Correction> of_settings_;  // empty with too few runs, else one
  std::vector<std::vector<double>> levels_;
};

// Returns the number of names in both lists.
std::size_t CommonStages(const std::vector<std::string>& one,
                         const std::vector<std::string>& other);
// Returns true if at least half of the stage names of the run with fewer stages are in both.
bool AreRunsOfOneProgram(const std::vector<std::string>& one,
                         const std::vector<std::string>& other);

// Two estimates from different evidence, each weighted by its confidence.
struct AveragedEstimate {
  double factor = 1;     // factor on the seconds of the first
  double deviation = 0;  // standard deviation of the log; includes the difference of the two
};
// Averages an estimate of `seconds`, with the deviation of their log, and a whole one. Returns
// nullopt if the first has no time or both have no deviation.
std::optional<AveragedEstimate> AverageOf(double seconds, double deviation,
                                          const WholeEstimate& whole);

}  // namespace tidemark::phases
