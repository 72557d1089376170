// Estimates the duration of a whole run from the settings of past runs, without a model of its
// stages.
//
// The log of the duration is a linear function of the settings (LevelsOf(), correction.h). The
// estimate covers only settings near past runs: executors and cores within their range, and other
// settings beyond their range by at most its width. It is averaged with the estimate from stages,
// each weighted by its confidence. See
// docs/internals/adr/0048-average-the-models-with-a-fit-of-whole-runs.md.
//
// Pure, deterministic, and thread-safe when const. Costs as much as Correction for one time per
// run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/phases/correction.h"
#include "whatif/phases/past_stage.h"
#include "whatif/phases/settings.h"
#include "whatif/phases/task.h"

namespace tidemark::phases {

// An estimate of the duration of a whole run.
struct WholeEstimate {
  double seconds = 0;
  double deviation = 0;  // standard deviation of ln(seconds)
};

// The load that a run puts on its slots.
struct SlotLoad {
  struct OfStage {
    double work_seconds = 0;  // total work of its tasks; more if they may not use all slots
    double longest_seconds = 0;
  };
  double slots = 1;
  double seconds = 0;  // from the start to the end of the last stage; 0 if unknown
  std::vector<OfStage> stages;
  // The share of the work that uses no processor, and the part of it in stages that read a shuffle.
  // If a stage's processor time is unknown, all its work counts.
  double waiting_share = 1;
  double fetching_share = 0;

  // Returns the time of all stages on `other` slots, by Sparklens' rule.
  double TaskSeconds(double other) const;
  // Returns the time outside tasks, which is the part of `seconds` that the rule does not explain.
  double OtherSeconds() const;
  // Returns the duration on `other` slots by the rule.
  double SecondsOn(double other) const { return OtherSeconds() + TaskSeconds(other); }
};

// Returns the load of a run. Stages without counted tasks count as time outside tasks.
SlotLoad LoadOf(const PastApplication& run);

// Estimates the duration of a run on other numbers of slots from runs that differ only in slots.
//
// The model is an ensemble of curves over the number of slots n, from Sparklens' rule and from
// Amdahl's law:
//
//     a (F + (P(n) - F) (n / m)^g)
//     a (D + (P(m) - D) (s + (1 - s) (n / m)^(g - 1)))
//
// m: geometric mean of the learnt numbers of slots; a: scale; s: share of the tasks' time that
// slots do not shorten, with 0 for work over slots; g: growth of the work, since tasks share disks
// and the network. D is the time outside tasks. P(n) is the sum over stages of max(longest task,
// work / n), and F is the sum over stages of the longest task. All three are means over runs.
//
// A duration is a log-normal factor times a curve. The weight of a curve is its prior times the
// probability of the runs given the curve, predicting each run from the others. Runs on the same
// slots count as one, since they have conditions in common. If all runs have the same number of
// slots, the priors decide. Curves fall with n since g < 1, unless a run on more slots took longer.
//
// Pure, deterministic, and thread-safe when const. O(curves x numbers of slots + runs x stages).
class ScalingModel {
 public:
  // Excludes runs without a finite positive duration, without slots, or without work.
  static ScalingModel Learn(std::span<const SlotLoad> runs);

  // Returns true if no run was left to learn from.
  bool is_empty() const { return curves_.empty(); }
  // REQUIRES: !is_empty(), slots > 0.
  WholeEstimate At(double slots) const;

 private:
  enum class Rule : std::uint8_t { kStages, kAmdahl };
  struct Curve {
    Rule rule = Rule::kStages;
    double growth = 0;
    double fixed_share = 0;  // kAmdahl
    double log_scale = 0;
    double deviation = 0;  // standard deviation of ln(duration)
    double weight = 0;     // the weights of all curves sum to 1
  };
  ScalingModel() = default;
  // Returns P(slots).
  double ByStages(double slots) const;
  // Returns the log of the curve without its scale.
  double LogShape(const Curve& curve, double slots, double by_stages) const;
  // Returns the mean log of the durations, by slots.
  std::map<double, double> LogSeconds() const;
  void AddCurves(double growth, double growth_deviation, double noise);
  void WeighCurves();

  std::map<double, std::vector<SlotLoad>> runs_;  // by slots
  double centre_ = 1;                             // m
  double by_stages_at_centre_ = 0;
  double other_seconds_ = 0;  // D
  double floor_ = 0;          // F
  std::vector<Curve> curves_;
};

// Levels are settings as numbers: powers of two for amounts that multiply, and 0 or 1 for switches.
// The log of a time is assumed to be a linear function of the levels.

// Scale of levels whose effect shows only over many doublings: memory, and files of a shuffle.
inline constexpr double kOfManyDoublings = 0.25;

// Returns 0 for a value below 1.
double Log2(double value);

// Returns the levels of a stage, followed by `others`.
std::vector<double> LevelsOf(const Settings& settings, double data_bytes, const Stage& stage,
                             const std::vector<double>& others);
// Returns the levels of a whole run, as many as LevelsOf().
std::vector<double> LevelsOfWhole(const Settings& settings, double data_bytes,
                                  const std::vector<double>& others);

// Moves the levels of executors and cores to the nearest levels of past runs, and returns the
// number of doublings for both. The effects of tasks on other tasks cannot be extrapolated without
// limit. REQUIRES: at least one past run.
double HoldSlots(const std::vector<std::vector<double>>& past, std::vector<double>& levels);

// Returns a group for each level. The importance of the levels of a group is learnt jointly.
std::vector<std::size_t> GroupsOf(std::size_t others);

// The range of a value in past runs.
class ObservedRange {
 public:
  // Creates an empty range. Every value is beyond it.
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
  std::vector<double> levels;
  double seconds = 0;  // positive
};

class WholeRunModel {
 public:
  // A model without runs.
  WholeRunModel() = default;
  // With fewer than four runs, the model gives no estimates. `groups` and errors are as in
  // Correction::Learn().
  static absl::StatusOr<WholeRunModel> Learn(std::span<const PastWhole> runs,
                                             std::span<const std::size_t> groups);

  // Returns nullopt if there are too few runs or if none of them is near.
  std::optional<WholeEstimate> At(const std::vector<double>& levels) const;

 private:
  double mean_log_seconds_ = 0;
  std::vector<Correction> of_settings_;  // empty if there are too few runs; otherwise one element
  std::vector<std::vector<double>> levels_;
};

// Returns the number of names in both lists.
std::size_t CommonStages(const std::vector<std::string>& one,
                         const std::vector<std::string>& other);
// Returns true if at least half of the stage names of the run with fewer stages are in both runs.
bool AreRunsOfOneProgram(const std::vector<std::string>& one,
                         const std::vector<std::string>& other);

// The average of two estimates from different evidence, each weighted by its confidence.
struct AveragedEstimate {
  double factor = 1;  // factor on the seconds of the first estimate
  // standard deviation of the log; includes the difference of the two estimates
  double deviation = 0;
};
// Averages an estimate of `seconds`, with the deviation of its log, and an estimate of the whole
// run. Returns nullopt if the first estimate has no time or both have no deviation.
std::optional<AveragedEstimate> AverageOf(double seconds, double deviation,
                                          const WholeEstimate& whole);

}  // namespace tidemark::phases
