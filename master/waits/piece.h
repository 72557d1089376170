// A part of an attempt's life with what it waited for and took in it: all that blame is made from.
#pragma once

#include "absl/status/status.h"
#include "master/waits/resource.h"

namespace tidemark::blame {

// Instants are seconds since one of the caller's choice, on one clock for all hosts and queries: a
// sender's offset is taken off before. What remains of it makes overlaps wrong by as much.
struct Piece {
  Stage stage{};
  // QueueOf(pool): it waits for a slot, and `use` holds nothing but that wait and the slots it got.
  Host host{};
  Pool pool{};  // that its slot is of
  double from = 0;
  double to = 0;
  TaskUse use;
  // Of a queue: so many tasks wait, whose waits and slots `use` has together.
  double tasks = 1;
  double seconds() const { return to - from; }
  friend bool operator==(const Piece&, const Piece&) = default;
};

// InvalidArgument: a number that is not finite, an amount below zero, no task, an end before the
// start.
absl::Status CheckPiece(const Piece& piece);

// The part of `piece` within [from, to], with its share of the amounts; they are taken to be spread
// evenly. A piece of no length is within where it lies. REQUIRES: the two overlap.
Piece Clip(const Piece& piece, double from, double to);

}  // namespace tidemark::blame
