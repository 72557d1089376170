// Finds the stages that ran on a host at the same time, and their use of its resources. One pass
// visits the instants at which tasks start, end or report.
#pragma once

#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/waits/ledger.h"
#include "master/waits/piece.h"

namespace tidemark::waits {

// Shorter pieces meet nothing, since their rates would outweigh all others.
inline constexpr double kPieceSecondsMin = 1e-6;

// Adds the meetings of these pieces and the crowding of each stage to `ledger`. All pieces are of
// `host`. If that is a queue, pieces of this host wait for a slot, and pieces of other hosts hold
// one. Equal instants are one: a piece that ends as another starts does not meet it.
//
// The order of the pieces matters only for rounding. Cost: O(n log n + instants x a^2), with a the
// number of stages that are present at the same time. Memory: O(n + a^2).
void Sweep(std::span<const Piece> pieces, Host host, Ledger& ledger);

// The part that a task is of its stage at an instant: 1 / n while n tasks of the stage run. A
// second that one of n tasks loses delays the stage by that part, if the other tasks continue.
//
// Covers all hosts for some time. Call Add() for all pieces, then Sum(), then Of(). Cost: O(n log
// n) for Sum(), O(log n) for Of(). Memory: O(pieces).
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
    double tasks = 0;   // the change; after Sum(), the number of tasks from then on
    double shared = 0;  // seconds / tasks until then
  };
  static double SharedUntil(const std::vector<Instant>& instants, double at);

  absl::flat_hash_map<Stage, std::vector<Instant>> instants_;
};

}  // namespace tidemark::waits
