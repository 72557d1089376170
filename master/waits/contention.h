// The contention of a whole cluster. Pieces are added as they become known; past pieces are folded
// into sums, for the whole time and for the last minutes.
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

namespace tidemark::waits {

// The slices of time that are kept apart for questions about the last minutes.
struct Slices {
  double seconds = 60;
  std::size_t kept = 10;
};

// Call Add() with known pieces and Advance() to an instant before which no further piece is
// expected. Then query the sums.
//
// Memory: O(unfolded pieces + hosts x stages that met there, for the whole time and for each kept
// slice). Not thread-safe. Deterministic in the order of calls. The order of pieces between two
// calls of Advance(), and the number of these calls, matter only for rounding.
class Contention {
 public:
  explicit Contention(const Slices& slices = {}) : slices_(slices) {}

  // Fails as CheckPiece() does, and then changes nothing. A piece before the instant of the last
  // Advance() is too late to meet others, but counts in its own sums. O(1), or O(log n) for a late
  // piece among n stages.
  absl::Status Add(const Piece& piece);

  // Folds all pieces before `until`. Does nothing if `until` is not finite or not after the
  // `until` of the previous call. Costs as much as Sweep() over the unfolded pieces, once for each
  // slice.
  void Advance(double until);

  // Returns a copy of the sums until the last Advance(). O(hosts x stages that met there).
  Ledger Whole() const;

  // Returns the sums of the last `seconds` before the last Advance(), rounded up to whole slices
  // and limited to kept slices.
  Ledger Last(double seconds) const;

  // Returns the sums of these targets only, as Delays() needs them. O(m log n) for m meetings of
  // the targets and n in total.
  Ledger Of(std::span<const Stage> targets,
            const std::optional<double>& last_seconds = std::nullopt) const;

  // Returns the sums of Of() and the sums of the stages that met the targets, as Explain() needs
  // them.
  Ledger WithSources(std::span<const Stage> targets,
                     const std::optional<double>& last_seconds = std::nullopt) const;

  // Removes these stages, so that their numbers can be reused. Attributes waits that they caused
  // to `instead`. REQUIRES: none of these stages runs. O(all sums).
  void Forget(const absl::flat_hash_set<Stage>& gone, Stage instead);

  // Returns the hosts that have a sum or an unfolded piece. O(all sums).
  absl::flat_hash_set<Host> Hosts() const;
  // Returns the instant at which the period of Last() starts.
  double LastBegins(double seconds) const;

  // Returns the number of kept meetings; a meeting counts once for each slice that has it.
  std::size_t meetings() const;
  double folded_until() const { return folded_until_; }  // 0 before the first Advance()
  std::size_t pending() const;                           // unfolded pieces
  double late_seconds() const { return late_seconds_; }  // task seconds in late pieces

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
  // A piece on a host is also in the queue of its pool, as a held slot.
  absl::btree_map<Host, std::vector<Piece>> pending_;
  double late_seconds_ = 0;
  Ledger before_;  // the time before all slices
  std::deque<Slice> recent_;
};

}  // namespace tidemark::waits
