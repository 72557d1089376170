#include "master/waits/contention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "master/waits/sweep.h"

namespace tidemark::waits {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// A piece without length belongs to the interval that starts with it.
bool BeginsBefore(const Piece& piece, double until) { return piece.from < until; }

}  // namespace

absl::Status Contention::Add(const Piece& piece) {
  if (absl::Status checked = CheckPiece(piece); !checked.ok()) return checked;
  Piece rest = piece;
  if (has_folded_ && BeginsBefore(piece, folded_until_)) {
    const Piece late = Clip(piece, kNever, folded_until_);
    late_seconds_ += late.seconds();
    LedgerAt(late.from).Add(late);
    if (piece.to <= folded_until_) return absl::OkStatus();
    rest = Clip(piece, folded_until_, piece.to);
  }
  if (!IsQueue(rest.host)) {
    Piece slot = rest;
    slot.use = {};
    pending_[QueueOf(rest.pool)].push_back(slot);
  }
  pending_[rest.host].push_back(rest);
  return absl::OkStatus();
}

void Contention::Advance(double until) {
  if (!std::isfinite(until) || (has_folded_ && until <= folded_until_)) return;
  double from = std::numeric_limits<double>::infinity();
  for (const auto& [host, pieces] : pending_) {
    for (const Piece& piece : pieces) from = std::min(from, piece.from);
  }
  // Time before the kept slices is folded in one step, regardless of its length.
  const double kept_from =
      slices_.seconds * (std::floor(until / slices_.seconds) - static_cast<double>(slices_.kept));
  while (from < until) {
    const double slice_ends = slices_.seconds * (std::floor(from / slices_.seconds) + 1);
    double to = from < kept_from ? kept_from : slice_ends;
    if (!(to > from) || to > until) to = until;
    Fold(from, to);
    from = to;
  }
  has_folded_ = true;
  folded_until_ = until;
  DropSlices(kept_from);
}

// REQUIRES: no pending piece starts before `from`.
void Contention::Fold(double from, double to) {
  Ledger& ledger = LedgerAt(from);
  StageShares shares;
  for (const auto& [host, pieces] : pending_) {
    if (IsQueue(host)) continue;
    for (const Piece& piece : pieces) {
      if (BeginsBefore(piece, to)) {
        shares.Add(piece.stage, std::max(from, piece.from), std::min(to, piece.to));
      }
    }
  }
  shares.Sum();
  for (auto& [host, pieces] : pending_) {
    const std::vector<Piece> now = Take(from, to, pieces);
    for (const Piece& piece : now) {
      if (piece.host == host) ledger.Add(piece, IsQueue(host) ? 0 : shares.Of(piece));
    }
    Sweep(now, host, ledger);
  }
}

// Removes the parts of `pieces` before `to` and returns them.
std::vector<Piece> Contention::Take(double from, double to, std::vector<Piece>& pieces) {
  std::vector<Piece> taken;
  std::size_t kept = 0;
  for (Piece& piece : pieces) {
    if (BeginsBefore(piece, to)) {
      taken.push_back(Clip(piece, from, to));
      if (piece.to <= to) continue;
      piece = Clip(piece, to, piece.to);
    }
    if (kept != static_cast<std::size_t>(&piece - pieces.data())) pieces[kept] = piece;
    ++kept;
  }
  pieces.resize(kept);
  return taken;
}

Ledger& Contention::LedgerAt(double at) {
  const double from = slices_.seconds * std::floor(at / slices_.seconds);
  if (recent_.empty() || recent_.back().from < from) {
    recent_.push_back({.from = from, .ledger = {}});
    return recent_.back().ledger;
  }
  for (auto slice = recent_.rbegin(); slice != recent_.rend(); ++slice) {
    if (slice->from <= at) return slice->ledger;
  }
  return before_;
}

void Contention::DropSlices(double until) {
  while (!recent_.empty() && recent_.front().from < until) {
    before_.Merge(recent_.front().ledger);
    recent_.pop_front();
  }
}

Ledger Contention::Whole() const {
  Ledger whole = before_;
  for (const Slice& slice : recent_) whole.Merge(slice.ledger);
  return whole;
}

bool Contention::IsWithin(const Slice& slice, double last_seconds) const {
  return slice.from >= LastBegins(last_seconds);
}

Ledger Contention::Last(double seconds) const {
  Ledger last;
  for (const Slice& slice : recent_) {
    if (IsWithin(slice, seconds)) last.Merge(slice.ledger);
  }
  return last;
}

Ledger Contention::Of(std::span<const Stage> targets,
                      const std::optional<double>& last_seconds) const {
  Ledger of;
  for (const Stage target : std::set<Stage>(targets.begin(), targets.end())) {
    if (!last_seconds) of.MergeTarget(before_, target);
    for (const Slice& slice : recent_) {
      if (!last_seconds || IsWithin(slice, *last_seconds)) of.MergeTarget(slice.ledger, target);
    }
  }
  return of;
}

Ledger Contention::WithSources(std::span<const Stage> targets,
                               const std::optional<double>& last_seconds) const {
  Ledger ledger = Of(targets, last_seconds);
  std::set<StageHost> sources;
  for (const auto& [key, met] : ledger.meetings) {
    const StageHost source = {key.source, key.host};
    if (!ledger.stages.contains(source)) sources.insert(source);
  }
  for (const StageHost& source : sources) {
    if (!last_seconds) ledger.MergeStage(before_, source);
    for (const Slice& slice : recent_) {
      if (!last_seconds || IsWithin(slice, *last_seconds)) ledger.MergeStage(slice.ledger, source);
    }
  }
  return ledger;
}

void Contention::Forget(const absl::flat_hash_set<Stage>& gone, Stage instead) {
  for (auto& [host, pieces] : pending_) {
    std::erase_if(pieces, [&](const Piece& piece) { return gone.contains(piece.stage); });
  }
  before_.Forget(gone, instead);
  for (Slice& slice : recent_) slice.ledger.Forget(gone, instead);
  absl::erase_if(pending_, [](const auto& of_host) { return of_host.second.empty(); });
}

absl::flat_hash_set<Host> Contention::Hosts() const {
  absl::flat_hash_set<Host> hosts;
  for (const auto& [host, pieces] : pending_) {
    if (!pieces.empty()) hosts.insert(host);
  }
  const auto add = [&](const Ledger& ledger) {
    for (const auto& [key, sums] : ledger.stages) hosts.insert(key.host);
  };
  add(before_);
  for (const Slice& slice : recent_) add(slice.ledger);
  return hosts;
}

double Contention::LastBegins(double seconds) const {
  const double kept =
      std::floor(folded_until_ / slices_.seconds) - static_cast<double>(slices_.kept);
  const double asked = std::floor((folded_until_ - seconds) / slices_.seconds);
  return slices_.seconds * std::max(kept, asked);
}

std::size_t Contention::pending() const {
  std::size_t count = 0;
  for (const auto& [host, pieces] : pending_) {
    count += static_cast<std::size_t>(
        std::count_if(pieces.begin(), pieces.end(),
                      [&, &on = host](const Piece& piece) { return piece.host == on; }));
  }
  return count;
}

std::size_t Contention::meetings() const {
  std::size_t sum = before_.meetings.size();
  for (const Slice& slice : recent_) sum += slice.ledger.meetings.size();
  return sum;
}

}  // namespace tidemark::waits
