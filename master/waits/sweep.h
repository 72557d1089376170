// Finds the stages that ran on a host at the same time, and their use of its resources. One pass
// visits the instants at which tasks start, end or report.
#pragma once

#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/waits/ledger.h"
#include "master/waits/piece.h"

namespace tidemark::waits {

// Shorter pieces have no meetings, since their rates would outweigh all others.
inline constexpr double kPieceSecondsMin = 1e-6;

// Adds the meetings of these pieces and the crowding of each stage to `ledger`. All pieces are of
// `host`. If that is a queue, pieces of this host wait for a slot, and pieces of other hosts hold
// one. A piece does not meet another that starts at the instant at which it ends.
//
// The order of the pieces matters only for rounding. O(n log n + instants x a^2), with a the
// number of stages that are present at the same time. Memory: O(n + a^2).
void Sweep(std::span<const Piece> pieces, Host host, Ledger& ledger);

// The share of one task in its stage at an instant, which is 1 / n while n tasks of the stage run.
// A second that one of n tasks loses delays the stage by that share, if the other tasks continue.
//
// Covers all hosts for some time. Call Add() for all pieces, then Sum(), then Of(). Sum() is O(n
// log n), Of() is O(log n). Memory: O(pieces).
class StageShares {
 public:
  // Adds a task of the stage that ran in this interval.
  void Add(Stage stage, double from, double to);
  void Sum();
  // Returns the mean share in the time of the piece, which must have been added. Returns 0 for a
  // piece without length.
  double Of(const Piece& piece) const;

 private:
  struct Instant {
    double at = 0;
    double tasks = 0;   // the change; after Sum(), the number of tasks afterwards
    double shared = 0;  // seconds / tasks until then
  };
  static double SharedUntil(const std::vector<Instant>& instants, double at);

  absl::flat_hash_map<Stage, std::vector<Instant>> instants_;
};

}  // namespace tidemark::waits
