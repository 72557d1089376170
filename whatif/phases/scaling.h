// Estimates the duration of a run on other numbers of slots from runs that differ in nothing else.
//
// An ensemble of curves over the number of slots n, by Sparklens' rule and by Amdahl's law:
//
//     a (F + (P(n) - F) (n / m)^g)
//     a (D + (P(m) - D) (s + (1 - s) (n / m)^(g - 1)))
//
// m: geometric mean of the learnt numbers of slots; a: scale; s: share of the tasks' time that
// slots do not shorten, with 0 for work over slots; g: growth of the work, since tasks share disks
// and the network. D is the time outside of tasks. P(n) adds for each stage the larger of its
// longest task and its work over n, and F its longest task. All three are means over runs.
//
// A duration is a log-normal factor times a curve. The weight of a curve is its prior times the
// probability of the runs: how well it predicts each run from the others. Runs on the same slots
// count as one, since their common conditions repeat. With runs on one number of slots, the priors
// decide. Curves fall with n since g < 1, unless a run on more slots took longer.
//
// Pure, deterministic, thread-safe when const. Cost: O(curves x numbers of slots + runs x stages).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "whatif/phases/past_stage.h"

namespace tidemark::phases {

// An estimate of the duration of a whole run.
struct WholeEstimate {
  double seconds = 0;
  double deviation = 0;  // standard deviation of ln(seconds)
};

// The load that a run puts on its slots.
struct SlotLoad {
  struct OfStage {
    double work_seconds = 0;  // work of all its tasks
    double longest_seconds = 0;
  };
  double slots = 1;
  double seconds = 0;  // from the start to the end of the last stage; 0 if unknown
  std::vector<OfStage> stages;
  // The share of the work without a processor, and its part in stages that read a shuffle. All work
  // of a stage counts if its processor time is unknown.
  double waiting_share = 1;
  double fetching_share = 0;

  // Returns the time of all stages on `other` slots by Sparklens' rule.
  double TaskSeconds(double other) const;
  // Returns the time outside of tasks: the part of `seconds` that the rule does not explain.
  double OtherSeconds() const;
  // Returns the duration on `other` slots by the rule.
  double SecondsOn(double other) const { return OtherSeconds() + TaskSeconds(other); }
};

// Returns the load of a run. Stages without counted tasks count as time outside of tasks.
SlotLoad LoadOf(const PastApplication& run);

class ScalingModel {
 public:
  // Excludes runs without a finite duration above 0, without slots or without work.
  static ScalingModel Learn(std::span<const SlotLoad> runs);

  // Returns true if no run remained to learn from.
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

}  // namespace tidemark::phases
