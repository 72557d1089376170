// The whole cluster: takes pieces in as they become known, folds what is over into sums, for the
// whole time and for the last minutes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "master/waits/ledger.h"
#include "master/waits/piece.h"

namespace tidemark::blame {

// How much is kept apart for questions about the last minutes.
struct Slices {
  double seconds = 60;
  std::size_t kept = 10;
};

// Add() what is known and Advance() to an instant before which no more is expected; then ask.
//
// Memory: O(pieces not folded yet + hosts x stages that met there, for the whole time and for each
// slice that is kept). Not thread-safe. Deterministic in the order of calls; the order of pieces
// between two calls of Advance(), and into how many calls the time is cut, do not matter beyond
// rounding.
class Contention {
 public:
  explicit Contention(const Slices& slices = {}) : slices_(slices) {}

  // InvalidArgument: as CheckPiece(); nothing is changed then. What lies before the instant of the
  // last Advance() comes too late to meet anybody: its own sums count all the same. Cost: O(1), or
  // O(log stages) for what is late.
  absl::Status Add(const Piece& piece);

  // Folds all that lies before `until`, which must be finite; earlier than before: does nothing.
  // Cost: that of Sweep() over what has not been folded, once for each slice.
  void Advance(double until);

  // Everything until the last Advance(). Cost: O(hosts x stages that met there), a copy.
  Ledger Whole() const;

  // The last so many seconds until then, rounded up to whole slices and as far as they are kept.
  Ledger Last(double seconds) const;

  // The same of these targets alone, for Delays(). Cost: O(what they met), and a logarithm.
  Ledger Of(std::span<const Stage> targets,
            const std::optional<double>& last_seconds = std::nullopt) const;

  // Nobody will ask about these stages any more, and none of them runs: their numbers may be given
  // to others. What others waited for because of them goes to `instead`. Cost: O(all that is kept).
  void Forget(const absl::flat_hash_set<Stage>& gone, Stage instead);

  // On which anything is kept. O(all that is kept).
  absl::flat_hash_set<Host> Hosts() const;
  // When what Last() tells begins.
  double LastBegins(double seconds) const;

  std::size_t meetings() const;  // that are kept, each as often as there are slices of it
  double folded_until() const { return folded_until_; }  // of the last Advance(); 0: none
  std::size_t pending() const;                           // pieces
  double late_seconds() const { return late_seconds_; }  // of tasks, that came too late to meet

 private:
  struct Slice {
    double from = 0;
    Ledger ledger;
  };
  bool IsWithin(const Slice& slice, double last_seconds) const;
  void Fold(double from, double to);
  static std::vector<Piece> Take(double from, double to, std::vector<Piece>& pieces);
  Ledger& LedgerAt(double at);
  void DropSlices(double until);

  Slices slices_;
  bool has_folded_ = false;
  double folded_until_ = 0;
  absl::btree_map<Host, std::vector<Piece>> pending_;  // and once more in the queue: slots held
  double late_seconds_ = 0;
  Ledger before_;  // what is older than all slices
  std::deque<Slice> recent_;
};

}  // namespace tidemark::blame
