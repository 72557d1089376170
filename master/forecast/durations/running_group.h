// How long the key group that a reduce task is inside of will still take.
//
// Prior: log-normal around the cost model's time for its size. What is seen from inside sharpens
// it:
//   elapsed    T > tau, always
//   progress   phi, the part of its bytes that is read or, when all are, the part emitted of what a
//              group of that size emits; T = tau phi^-gamma, with gamma learnt within the group
//              from (ln phi, ln tau) and held to a job-wide value while there is little to learn
// A counter earns trust by what it said about groups that have finished since.
//
// Source: docs/references.md [TM]. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "master/facts/job_record.h"
#include "master/forecast/durations/group_times.h"
#include "master/forecast/durations/opinions.h"
#include "regression/cost_model.h"

namespace tidemark::cost {

// The distribution of the running group's time, by curve of the cost model.
struct RunningGroupTime {
  double elapsed = 0;              // seconds
  std::vector<double> log_mean;    // of its whole time
  std::vector<double> likelihood;  // of each curve, given what is seen of this group
  std::vector<double> survival;    // of each curve: how likely it is to take longer than `elapsed`
  double deviation = 0;            // of the logarithm

  // Seconds left under curve k at a quantile in (0, 1): >= 0.
  double Left(std::size_t k, double quantile) const;
};

// By so many groups a counter is judged. Ablation: +0.02, -0.19 (two-path restart, slow-node).
inline constexpr double kGroupsToJudge = 2;

// One counter inside groups: how well it has told their time.
struct SignalRecord {
  double squared_error = 0;  // of ln(time told / time taken), a mean
  double count = 0;          // of groups, short ones in part
  double longest = 0;        // of these groups, seconds
  double exponent = 1;       // gamma of the last group that taught it
  // Which part of a group's time has passed when the counter is exhausted, as a logarithm: less
  // than 0 where a function reads first and works later.
  double log_share = 0;
  double share_weight = 0;  // of groups, short ones in part
  double share_squared_error = kAgainDeviation * kAgainDeviation / 4;  // by how groups differ in it

  // Whether it tells more than to have done the same work before would.
  bool is_trusted() const { return is_judged() && !errs(); }
  bool is_useless() const { return is_judged() && errs(); }
  // Of a group that took `seconds`; the longer, the more it counts.
  void Learn(double log_told, double seconds);
  // That it was exhausted after `exhausted_seconds` of them.
  void LearnShare(double exhausted_seconds, double seconds);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(squared_error, count, longest, exponent, log_share, share_weight, share_squared_error);
  }

 private:
  bool is_judged() const { return count >= kGroupsToJudge; }
  bool errs() const { return squared_error > kAgainDeviation * kAgainDeviation; }
  double PartOfLongest(double seconds);
};

// What a running group should come to in the end.
struct Expectation {
  double size_bytes = 0;      // 0: not known, so no counter means anything
  double emitted_bytes = 0;   // 0: nothing is known about emissions
  double emission_error = 0;  // relative, one standard deviation
};

class RunningGroups {
 public:
  explicit RunningGroups(bool use_signals) : use_signals_(use_signals) {}

  // To be called once an update for each running task, before TimeOf(): learns from the groups
  // that have finished and from what the running one shows.
  void Observe(const model::JobRecord& state, std::size_t index, const model::ReduceWork& work,
               absl::Time now, const Expectation& expected);
  // Whether the group has stopped reading and emits all the same: what it has read is its size,
  // whatever was expected.
  bool HasReadAll(std::size_t index, const RunningGroup& running) const;
  // Of the running group of a task, of which the model predicts `model_seconds[k]` (speed factor
  // included), with `relative_variance` around it
  // and a relative uncertainty `beyond` of the model itself.
  RunningGroupTime TimeOf(std::size_t index, const regression::CostModel& costs,
                          const std::vector<double>& model_seconds, double relative_variance,
                          double beyond) const;
  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(groups_, read_, emitted_);
  }

 private:
  enum class Signal : std::uint8_t { kNone, kRead, kEmitted };
  struct Group {
    std::optional<KeyHash> key;
    std::uint64_t number = 0;  // groups finished before it
    int looks = 0;             // reports that saw it
    absl::Time seen_at = absl::InfinitePast();
    double elapsed = 0;  // now
    Signal signal = Signal::kNone;
    double expectation_error = 0;  // of what the counter comes to in the end
    // Centred sums of (ln phi, ln tau) since the signal began.
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    std::optional<double> slope;     // once it has much behind it
    std::optional<double> log_time;  // told by the signal
    double log_time_deviation = 0;
    double last_look = 0;          // elapsed
    std::uint64_t bytes_read = 0;  // then
    std::uint64_t bytes_emitted = 0;
    bool only_emits = false;         // it emitted more since it last read
    std::optional<double> read_for;  // seconds until all was read
    double silent_for = 0;           // seconds until it began to emit, at least
    double silence_unsure = 0;       // by how much that may be short
    bool emits_while_reading = false;
    // What each counter said when about half was done, for read_ without its share.
    std::optional<double> read_said, emitted_said;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(key, number, looks, seen_at, elapsed, signal, n, x, y, xx, xy, slope, log_time,
              log_time_deviation, last_look, bytes_read, bytes_emitted, only_emits, read_for,
              silent_for, silence_unsure, emits_while_reading, read_said, emitted_said);
    }
  };

  RunningGroupTime WithoutSurvival(std::size_t index, const regression::CostModel& costs,
                                   const std::vector<double>& model_seconds,
                                   double relative_variance, double beyond) const;
  void Settle(const model::ReduceWork& work, Group& group);
  void Follow(Signal signal, double part, double elapsed, double error, double exponent,
              Group& group);
  SignalRecord& RecordOf(Signal signal) { return signal == Signal::kRead ? read_ : emitted_; }

  bool use_signals_;
  std::vector<Group> groups_;
  // What is emitted mostly comes at an even pace, what is read may not.
  SignalRecord read_{.squared_error = kAgainDeviation * kAgainDeviation};
  SignalRecord emitted_{.squared_error = kAgainDeviation * kAgainDeviation / 4};
};

}  // namespace tidemark::cost
