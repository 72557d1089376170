// Who was on a host at the same time as whom, and who took what meanwhile: one pass over the
// instants at which tasks come, go, or report.
#pragma once

#include <span>

#include "master/waits/ledger.h"
#include "master/waits/piece.h"

namespace tidemark::blame {

// Pieces shorter than that meet nobody: their rates would drown those of others.
inline constexpr double kPieceSecondsMin = 1e-6;

// Adds the meetings of these pieces to `ledger`, and how crowded it was for each stage. All pieces
// are of `host`; if that is a queue, those that wait for a slot (same host) and those that hold one
// (any other). Equal instants are one: a piece that ends as another starts does not meet it.
//
// The order of the pieces does not matter beyond rounding. Cost: O(n log n + instants x a^2), a the
// stages that are there at once. Memory: O(n + a^2).
void Sweep(std::span<const Piece> pieces, Host host, Ledger& ledger);

}  // namespace tidemark::blame
