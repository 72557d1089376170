// What attempts report are totals since their start, so that a lost report loses nothing; blame
// wants what happened when. The difference of two reports lies between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "master/waits/piece.h"

namespace tidemark::blame {

enum class Attempt : std::uint64_t {};  // a number of the caller's choice

// Attempts that run. An attempt counts until its last report or its end: one that never ends and is
// silent is nobody's neighbour any more.
//
// Cost: O(1) a call. Memory: O(attempts that run), at most `attempts_max`; those beyond are not
// followed and are counted. Not thread-safe.
class Attempts {
 public:
  explicit Attempts(std::size_t attempts_max = 1'000'000) : attempts_max_(attempts_max) {}

  // The attempt has a slot. With `queued_at`, returns its time in the queue: a wait of as
  // long, for one slot. Nothing if it runs already, or `queued_at` lies behind `at`.
  std::optional<Piece> Start(Attempt attempt, Stage stage, Host host, double at,
                             std::optional<double> queued_at = std::nullopt, Pool pool = {});

  // Totals since the start, as of `at`; what is empty has not been measured. Returns what is new
  // since the report before. Nothing from an attempt that does not run, or for an instant before
  // the last report. What a total has grown by is spread evenly over the time since it was told
  // last, or since the start: a piece that covers the end of that time has its part alone. A total
  // that falls is not known until it has grown again; a wait that exceeds the attempt's age is cut
  // to it. Waits are told of once they are over, so that a piece may hold one that is longer than
  // itself; but that for memory is cut to what that for a processor leaves of the time in which it
  // can have been, and those for the network and IO to what both leave: they were counted twice.
  std::optional<Piece> Report(Attempt attempt, double at, const TaskUse& totals);

  // The last report. Without totals: it was lost, or killed; it ran until `at` all the same.
  std::optional<Piece> End(Attempt attempt, double at,
                           const std::optional<TaskUse>& totals = std::nullopt);

  // It is not known to have ended, but will not be heard of any more.
  void Forget(Attempt attempt) { running_.erase(attempt); }

  std::size_t running() const { return running_.size(); }
  std::uint64_t not_followed() const { return not_followed_; }
  std::uint64_t contradictions() const { return contradictions_; }

 private:
  struct Total {
    double amount = 0;
    double told_at = 0;
  };
  struct Running {
    Stage stage{};
    Host host{};
    Pool pool{};
    double started_at = 0;
    double heard_at = 0;
    // The network and IO are told of once a wait is over: it began no earlier than the report
    // before the last that told of one. What else was waited since then.
    double moving_from = 0;
    double waited_since = 0;
    Total processor_seconds;
    PerResource<Total> wait_seconds;
    PerResource<Total> units;
  };
  std::optional<double> Grown(const Running& running, double at, const std::optional<double>& told,
                              double total_max, Total& last);

  std::size_t attempts_max_;
  absl::flat_hash_map<Attempt, Running> running_;
  std::uint64_t not_followed_ = 0;
  std::uint64_t contradictions_ = 0;
};

}  // namespace tidemark::blame
