// Converts the totals that attempts report to pieces. Totals count from the start of an attempt, so
// a lost report loses nothing. The difference between two reports belongs to the time between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "master/waits/ledger.h"

namespace tidemark::waits {

enum class Attempt : std::uint64_t {};  // the caller chooses the number

// The running attempts. An attempt counts until its last report or its end, so a silent attempt
// that never ends stops being a neighbour.
//
// O(1) per call. Memory: O(running attempts), at most `attempts_max`; further attempts are not
// tracked. Not thread-safe.
class Attempts {
 public:
  explicit Attempts(std::size_t attempts_max = 1'000'000) : attempts_max_(attempts_max) {}

  // Records that the attempt has a slot. If `queued_at` is set, returns the piece of its time in
  // the queue: a wait of that length for one slot. Returns nullopt if `queued_at` is unset or after
  // `at`, or if the attempt already runs.
  std::optional<Piece> Start(Attempt attempt, Stage stage, Host host, double at,
                             std::optional<double> queued_at = std::nullopt, Pool pool = {});

  // Takes totals since the start, as of `at`, and returns the growth since the previous report.
  // Unset totals have not been measured. Returns nullopt if the attempt does not run, or if `at` is
  // before the previous report.
  //
  // The growth of a total is spread evenly over the time since that total was last known, and the
  // piece receives its part. A total that falls is unknown until it grows again. A wait is limited
  // to the attempt's age.
  //
  // Waits are reported when they are over, so a wait may be longer than its piece. Waits that were
  // counted twice are cut. The wait for memory is limited to the time outside the processor wait.
  // Waits that include service are limited to the time outside both.
  std::optional<Piece> Report(Attempt attempt, double at, const TaskUse& totals);

  // Ends the attempt with its last report. If `totals` is unset, the attempt was lost or killed,
  // but ran until `at`.
  std::optional<Piece> End(Attempt attempt, double at,
                           const std::optional<TaskUse>& totals = std::nullopt);

  std::size_t running() const { return running_.size(); }
  std::uint64_t contradictions() const { return contradictions_; }

 private:
  struct Total {
    double amount = 0;
    double known_at = 0;
  };
  struct Running {
    Stage stage{};
    Host host{};
    Pool pool{};
    double started_at = 0;
    double reported_at = 0;
    // Lower bound of the start of the next wait that includes service. Such a wait is reported when
    // it is over, and began no earlier than the second-to-last report of such a wait.
    double moving_from = 0;
    double waited_since = 0;  // other waits since `moving_from`
    Total processor_seconds;
    PerWaitReason<Total> wait_seconds;
    PerWaitReason<Total> units;
  };
  std::optional<double> Growth(const Running& running, double at,
                               const std::optional<double>& reported, double total_max,
                               Total& last);

  std::size_t attempts_max_;
  absl::flat_hash_map<Attempt, Running> running_;
  std::uint64_t contradictions_ = 0;
};

}  // namespace tidemark::waits
