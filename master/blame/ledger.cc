#include "master/blame/ledger.h"

#include <algorithm>

namespace tidemark::blame {
namespace {

// Of a piece that tells the rate of a resource: the part of it in which its task waited for that.
constexpr double kMostly = 0.5;  // taste

void KeepLeast(double seconds_per_unit, double& least) {
  if (seconds_per_unit <= 0) return;
  if (least == 0 || seconds_per_unit < least) least = seconds_per_unit;
}

void AddUse(const Use& use, double seconds, Waited& waited) {
  if (!use.wait_seconds.has_value()) return;
  waited.wait_seconds += *use.wait_seconds;
  waited.measured_seconds += seconds;
  if (!use.units.has_value()) return;
  waited.rated_wait_seconds += *use.wait_seconds;
  waited.rated_units += *use.units;
  if (*use.units > 0 && *use.wait_seconds >= kMostly * seconds) {
    KeepLeast(*use.wait_seconds / *use.units, waited.least_seconds_per_unit);
  }
}

void Widen(const StageSpan& by, bool is_new, StageSpan& span) {
  if (is_new) span = by;
  span.from = std::min(span.from, by.from);
  span.to = std::max(span.to, by.to);
}

}  // namespace

void Ledger::Add(const Piece& piece) {
  StageOnHost& sums = stages[{piece.stage, piece.host}];
  sums.seconds += piece.seconds();
  if (piece.use.processor_seconds.has_value()) {
    sums.processor_seconds += *piece.use.processor_seconds;
    sums.processor_measured_seconds += piece.seconds();
  }
  for (const Resource resource : kResources) {
    AddUse(piece.use.of[resource], piece.seconds(), sums.waited[resource]);
  }
  if (IsQueue(piece.host)) return;
  const auto [span, is_new] = spans.try_emplace(piece.stage);
  Widen({piece.from, piece.to}, is_new, span->second);
}

void Ledger::Merge(const Ledger& other) {
  for (const auto& [key, from] : other.stages) {
    StageOnHost& to = stages[key];
    to.seconds += from.seconds;
    to.processor_seconds += from.processor_seconds;
    to.processor_measured_seconds += from.processor_measured_seconds;
    for (const Resource resource : kResources) {
      const Waited& more = from.waited[resource];
      Waited& waited = to.waited[resource];
      waited.wait_seconds += more.wait_seconds;
      waited.measured_seconds += more.measured_seconds;
      waited.rated_wait_seconds += more.rated_wait_seconds;
      waited.rated_units += more.rated_units;
      KeepLeast(more.least_seconds_per_unit, waited.least_seconds_per_unit);
    }
  }
  for (const auto& [key, from] : other.meetings) {
    Meeting& to = meetings[key];
    to.overlap_seconds += from.overlap_seconds;
    for (const Resource resource : kResources) {
      to.wait_seconds[resource] += from.wait_seconds[resource];
      to.units[resource] += from.units[resource];
    }
  }
  for (const auto& [stage, from] : other.spans) {
    const auto [span, is_new] = spans.try_emplace(stage);
    Widen(from, is_new, span->second);
  }
}

}  // namespace tidemark::blame
