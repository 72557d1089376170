// The remaining time of the running key group of a reduce task.
//
// The prior is log-normal around the cost model's time for the size of the group. Reports from
// inside the group refine it:
//   elapsed    T > tau, always
//   progress   phi, the share of its bytes that is read or, after the last byte, the share of
//              the emissions of a group of that size; T = tau phi^-gamma. The exponent gamma is
//              learnt within the group from (ln phi, ln tau), with a job-wide value as the prior.
// The weight of a counter depends on its errors for finished groups.
//
// Source: docs/internals/references.md [TM]. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "master/facts/job_record.h"
#include "master/forecast/durations/combined_estimates.h"
#include "master/forecast/durations/group_times.h"
#include "regression/cost_model.h"

namespace tidemark::durations {

// The distribution of the running group's time, by curve of the cost model.
struct RunningGroupTime {
  double elapsed = 0;              // seconds
  std::vector<double> log_mean;    // mean of ln(total time)
  std::vector<double> likelihood;  // likelihood of the reports of this group
  std::vector<double> survival;    // probability of a time above `elapsed`
  double deviation = 0;            // deviation of ln(total time)

  // Returns the remaining seconds under curve k at a quantile in (0, 1); at least 0.
  double Left(std::size_t k, double quantile) const;
};

// A counter is judged after this many groups. Ablation: +0.02, -0.19 (two-path restart, slow-node).
inline constexpr double kGroupsToJudge = 2;

// The errors of one counter inside groups.
struct SignalRecord {
  double squared_error = 0;  // mean square of ln(estimate / time)
  double count = 0;          // number of groups; a short group counts less than one
  double longest = 0;        // the longest of these groups, in seconds
  double exponent = 1;       // gamma of the last group that updated it
  // ln(share of a group's time at which the counter is exhausted). Negative if a function reads
  // first and works later.
  double log_share = 0;
  double share_weight = 0;  // number of groups; a short group counts less than one
  double share_squared_error = kRepeatDeviation * kRepeatDeviation / 4;  // scatter between groups

  // Returns true if the counter is more precise than a repetition of the same work.
  bool is_trusted() const { return is_judged() && !errs(); }
  bool is_useless() const { return is_judged() && errs(); }
  // Adds the error for a group that took `seconds`. Longer groups count more.
  void Learn(double log_estimate, double seconds);
  // Adds a group of `seconds` in which the counter was exhausted after `exhausted_seconds`.
  void LearnShare(double exhausted_seconds, double seconds);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(squared_error, count, longest, exponent, log_share, share_weight, share_squared_error);
  }

 private:
  bool is_judged() const { return count >= kGroupsToJudge; }
  bool errs() const { return squared_error > kRepeatDeviation * kRepeatDeviation; }
  double PartOfLongest(double seconds);
};

// The estimated totals of a running group.
struct GroupTotals {
  double size_bytes = 0;      // 0 if unknown; the counters are then useless
  double emitted_bytes = 0;   // 0 if unknown
  double emission_error = 0;  // relative standard deviation
};

class RunningGroups {
 public:
  explicit RunningGroups(bool use_signals) : use_signals_(use_signals) {}

  // Updates a running task from its finished groups and from the reports of its running group. Must
  // be called once per update, before TimeOf().
  void Observe(const facts::JobRecord& state, std::size_t index, const facts::ReduceWork& work,
               absl::Time now, const GroupTotals& expected);
  // Returns true if the group emits but no longer reads. Its size is then the number of bytes that
  // it has read, regardless of the estimate.
  bool HasReadAll(std::size_t index, const RunningGroup& running) const;
  // Returns the time of the running group of a task. `model_seconds[k]` is the estimate of the
  // model's curve k, including the speed factor. `relative_variance` is the relative variance
  // around the estimate. `beyond` is the relative uncertainty of the model itself.
  RunningGroupTime TimeOf(std::size_t index, const regression::CostModel& costs,
                          const std::vector<double>& model_seconds, double relative_variance,
                          double beyond) const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(groups_, read_, emitted_);
  }

 private:
  enum class Signal : std::uint8_t { kNone, kRead, kEmitted };
  struct Group {
    std::optional<KeyHash> key;
    std::uint64_t number = 0;  // number of groups finished before it
    int reports = 0;
    absl::Time seen_at = absl::InfinitePast();
    double elapsed = 0;  // current value
    Signal signal = Signal::kNone;
    double total_error = 0;  // error of the counter's final value
    // Centred sums of (ln phi, ln tau) since the start of the signal.
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    std::optional<double> slope;     // set once the signal covers enough of the group
    std::optional<double> log_time;  // estimate from the signal
    double log_time_deviation = 0;
    double last_report = 0;        // elapsed time at the last report
    std::uint64_t bytes_read = 0;  // at the last report
    std::uint64_t bytes_emitted = 0;
    bool only_emits = false;         // whether it has emitted more since it last read
    std::optional<double> read_for;  // seconds until it had read all bytes
    double silent_for = 0;           // lower bound of the seconds before the first emission
    double silence_error = 0;        // uncertainty of silent_for
    bool emits_while_reading = false;
    // Estimates of each counter at about half of the group. read_estimate excludes the counter's
    // share.
    std::optional<double> read_estimate, emitted_estimate;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(key, number, reports, seen_at, elapsed, signal, n, x, y, xx, xy, slope, log_time,
              log_time_deviation, last_report, bytes_read, bytes_emitted, only_emits, read_for,
              silent_for, silence_error, emits_while_reading, read_estimate, emitted_estimate);
    }
  };

  RunningGroupTime LogTimeOf(std::size_t index, const regression::CostModel& costs,
                             const std::vector<double>& model_seconds, double relative_variance,
                             double beyond) const;
  void LearnFromFinished(const facts::ReduceWork& work, Group& group);
  void UpdateSignal(Signal signal, double part, double elapsed, double error, double exponent,
                    Group& group);
  SignalRecord& RecordOf(Signal signal) { return signal == Signal::kRead ? read_ : emitted_; }

  bool use_signals_;
  std::vector<Group> groups_;
  // Most functions emit evenly but may read unevenly.
  SignalRecord read_{.squared_error = kRepeatDeviation * kRepeatDeviation};
  SignalRecord emitted_{.squared_error = kRepeatDeviation * kRepeatDeviation / 4};
};

}  // namespace tidemark::durations
