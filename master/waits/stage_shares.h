// Which part of its stage a task is at an instant: 1 / n where n tasks of it run. What a task loses
// of a second delays the stage by so much of it, if the others go on.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/waits/piece.h"

namespace tidemark::blame {

// Of all hosts, for some time. Add() all, then Sum(), then ask. Cost: O(n log n) of Sum(), O(log n)
// of Of(). Memory: O(pieces).
class StageShares {
 public:
  // A task of the stage ran then.
  void Add(Stage stage, double from, double to);
  void Sum();
  // On average in the time of the piece, which was added; 0: it has no length.
  double Of(const Piece& piece) const;

 private:
  struct Instant {
    double at = 0;
    double tasks = 0;   // more than before; after Sum(): that run from then on
    double shared = 0;  // seconds / tasks until then
  };
  static double SharedUntil(const std::vector<Instant>& instants, double at);

  absl::flat_hash_map<Stage, std::vector<Instant>> instants_;
};

}  // namespace tidemark::blame
