// The contention of a whole cluster. Pieces are added as they become known; past pieces are folded
// into sums, for the whole time and for the last minutes.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "master/waits/ledger.h"

namespace tidemark::waits {

// Finds the stages that ran on a host at the same time, and their use of its resources. One pass
// visits the times at which tasks start, end or report.

// Shorter pieces have no meetings, since their rates would outweigh all others.
inline constexpr double kPieceSecondsMin = 1e-6;

// Adds the meetings of these pieces, and the crowding of each stage, to `ledger`. All pieces are of
// `host`. If `host` is a queue, its own pieces wait for a slot, and pieces of other hosts hold one.
// A piece does not meet a piece that starts when it ends.
//
// The order of the pieces affects only rounding. O(n log n + instants x a^2), where a is the number
// of stages that are present at the same time. Memory: O(n + a^2).
void Sweep(std::span<const Piece> pieces, Host host, Ledger& ledger);

// The share of one task in its stage at a given time, which is 1 / n while n tasks of the stage
// run. If the other tasks continue, a second that one of n tasks loses delays the stage by that
// share.
//
// Covers all hosts for some time. Callers call Add() for all pieces, then Sum(), then Of(). Sum()
// takes O(n log n) time, Of() O(log n). Memory: O(pieces).
class StageShares {
 public:
  // Adds a task of the stage that ran in this interval.
  void Add(Stage stage, double from, double to);
  void Sum();
  // Returns the mean share during the piece, which must have been added. Returns 0 for a piece of
  // zero length.
  double Of(const Piece& piece) const;

 private:
  struct Instant {
    double at = 0;
    double tasks = 0;   // the change; after Sum(), the number of tasks after the change
    double shared = 0;  // integral of 1 / tasks up to this time, in seconds
  };
  static double SharedUntil(const std::vector<Instant>& instants, double at);

  absl::flat_hash_map<Stage, std::vector<Instant>> instants_;
};

// Slices of time that are kept separately for questions about the last minutes.
struct Slices {
  double seconds = 60;
  std::size_t kept = 10;
};

// Callers add known pieces with Add(), then call Advance() with a time before which no further
// piece is expected, and then query the sums.
//
// Memory: O(unfolded pieces + hosts x stages that met there), for the whole time and for each kept
// slice. Not thread-safe. Deterministic in the order of calls. The order of pieces between two
// calls of Advance(), and the number of these calls, affect only rounding.
class Contention {
 public:
  explicit Contention(const Slices& slices = {}) : slices_(slices) {}

  // Fails like CheckPiece(), and then changes nothing. A piece before the time of the last
  // Advance() is too late to meet other pieces, but counts in its own sums. O(1), or O(log n) for a
  // late piece among n stages.
  absl::Status Add(const Piece& piece);

  // Folds all pieces before `until`. Does nothing if `until` is not finite or not after the
  // previous `until`. Costs as much as Sweep() over the unfolded pieces, once per slice.
  void Advance(double until);

  // Returns a copy of the sums until the last Advance(). O(hosts x stages that met there).
  Ledger Whole() const;

  // Returns the sums of only these targets, as needed by Delays(). `last_seconds` limits the sums
  // to the last seconds before the last Advance(), rounded up to whole slices and limited to kept
  // slices. O(m log n) for m meetings of the targets, and n in total.
  Ledger Of(std::span<const Stage> targets,
            const std::optional<double>& last_seconds = std::nullopt) const;

  // Returns the sums of Of() and the sums of the stages that met the targets, as needed by
  // Explain().
  Ledger WithSources(std::span<const Stage> targets,
                     const std::optional<double>& last_seconds = std::nullopt) const;

  // Removes these stages, so that their numbers can be reused. Attributes waits that they caused
  // to `instead`. REQUIRES: none of these stages runs. O(all sums).
  void Forget(const absl::flat_hash_set<Stage>& gone, Stage instead);

  // Returns the hosts that have a sum or an unfolded piece. O(all sums).
  absl::flat_hash_set<Host> Hosts() const;
  // Returns the time at which the period of the last `seconds` starts.
  double LastBegins(double seconds) const;

  // Returns the number of kept meetings. A meeting counts once per slice.
  std::size_t meetings() const;
  double folded_until() const { return folded_until_; }  // 0 before the first Advance()
  std::size_t pending() const;                           // unfolded pieces

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
  // A piece on a host also counts as a held slot in the queue of its pool.
  absl::btree_map<Host, std::vector<Piece>> pending_;
  Ledger before_;  // time before all slices
  std::deque<Slice> recent_;
};

}  // namespace tidemark::waits
