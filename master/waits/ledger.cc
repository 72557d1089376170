#include "master/waits/ledger.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tidemark::waits {
namespace {

bool IsAmount(const std::optional<double>& amount) {
  return !amount.has_value() || (std::isfinite(*amount) && *amount >= 0);
}

void Scale(std::optional<double>& amount, double by) {
  if (amount.has_value()) *amount *= by;
}

}  // namespace

absl::Status CheckPiece(const Piece& piece) {
  const auto fault = [&](std::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("piece of stage ", static_cast<std::uint32_t>(piece.stage), " from ",
                     piece.from, " s to ", piece.to, " s: ", std::string(what)));
  };
  if (!std::isfinite(piece.from) || !std::isfinite(piece.to)) {
    return fault("a time is not finite; omit the piece");
  }
  if (piece.to < piece.from) return fault("it ends before it starts; check the sender's clock");
  bool amounts = IsAmount(piece.use.processor_seconds);
  for (const WaitReason resource : kWaitReasons) {
    const Use& use = piece.use.of[resource];
    amounts = amounts && IsAmount(use.wait_seconds) && IsAmount(use.units);
  }
  if (!(piece.tasks > 0) || !std::isfinite(piece.tasks))
    return fault("its number of tasks must be positive and finite");
  if (!amounts) return fault("an amount is negative or not finite; leave it empty if unknown");
  return absl::OkStatus();
}

Piece Clip(const Piece& piece, double from, double to) {
  if (piece.from >= from && piece.to <= to) return piece;
  Piece part = piece;
  part.from = std::max(piece.from, from);
  part.to = std::min(piece.to, to);
  const double share = part.seconds() / piece.seconds();
  Scale(part.use.processor_seconds, share);
  for (const WaitReason resource : kWaitReasons) {
    Scale(part.use.of[resource].wait_seconds, share);
    Scale(part.use.of[resource].units, share);
  }
  return part;
}

namespace {

// Spark's executors report their tasks at this interval, so each interval counts as one
// observation.
constexpr double kObservationSeconds = 10;
// The required likelihood ratio. Chosen by hand.
constexpr double kTimesAsLikely = 20;
// A smaller share of the sum of squares is a rounding error.
constexpr double kSquaresRounding = 1e-9;
// A piece measures the time of a unit if its task waited for the resource for at least this share
// of the piece. Chosen by hand.
constexpr double kMostly = 0.5;

void KeepLeast(double seconds_per_unit, double& least) {
  if (seconds_per_unit <= 0) return;
  if (least == 0 || seconds_per_unit < least) least = seconds_per_unit;
}

void AddUse(const Use& use, double seconds, double share, Waited& waited) {
  if (!use.wait_seconds.has_value()) return;
  waited.wait_seconds += *use.wait_seconds;
  waited.stage_seconds += *use.wait_seconds * share;
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

void AddTo(const StageOnHost& from, StageOnHost& to) {
  to.seconds += from.seconds;
  to.stage_seconds += from.stage_seconds;
  to.processor_seconds += from.processor_seconds;
  to.processor_measured_seconds += from.processor_measured_seconds;
  for (std::size_t i = 0; i < kServiceReasons; ++i) to.crowdings[i] += from.crowdings[i];
  for (const WaitReason resource : kWaitReasons) {
    const Waited& more = from.waited[resource];
    Waited& waited = to.waited[resource];
    waited.wait_seconds += more.wait_seconds;
    waited.stage_seconds += more.stage_seconds;
    waited.measured_seconds += more.measured_seconds;
    waited.rated_wait_seconds += more.rated_wait_seconds;
    waited.rated_units += more.rated_units;
    KeepLeast(more.least_seconds_per_unit, waited.least_seconds_per_unit);
  }
}

void AddTo(const Meeting& from, Meeting& to) {
  to.overlap_seconds += from.overlap_seconds;
  for (const WaitReason resource : kWaitReasons) {
    to.wait_seconds[resource] += from.wait_seconds[resource];
    to.units[resource] += from.units[resource];
  }
}

}  // namespace

void Crowding::Pass(double for_seconds, double wait_rate, double unit_rate, double crowd) {
  seconds += for_seconds;
  units += unit_rate * for_seconds;
  wait_seconds += wait_rate * for_seconds;
  waits_squared += wait_rate * wait_rate / unit_rate * for_seconds;
  crowds_squared += unit_rate * crowd * crowd * for_seconds;
  waits_by_crowds += wait_rate * crowd * for_seconds;
}

Crowding& Crowding::operator+=(const Crowding& other) {
  seconds += other.seconds;
  units += other.units;
  wait_seconds += other.wait_seconds;
  waits_squared += other.waits_squared;
  crowds_squared += other.crowds_squared;
  waits_by_crowds += other.waits_by_crowds;
  return *this;
}

std::optional<double> ServiceSeconds(const Crowding& crowding) {
  if (!(crowding.units > 0) || !(crowding.crowds_squared > 0)) return std::nullopt;
  const double all = crowding.waits_squared;
  const double service = crowding.waits_by_crowds / crowding.crowds_squared;
  const double by_constant = all - crowding.wait_seconds * crowding.wait_seconds / crowding.units;
  const double by_line = std::max(all - service * crowding.waits_by_crowds, kSquaresRounding * all);
  if (!(by_constant > by_line) || !std::isfinite(by_constant) || !(service > 0)) {
    return std::nullopt;
  }
  const double observations = crowding.seconds / kObservationSeconds - 1;
  if (observations * std::log(by_constant / by_line) < 2 * std::log(kTimesAsLikely)) {
    return std::nullopt;
  }
  return service;
}

void Ledger::Add(const Piece& piece, std::optional<double> share) {
  StageOnHost& sums = stages[{piece.stage, piece.host}];
  const double seconds = piece.tasks * piece.seconds();
  if (!share.has_value()) share = sums.seconds > 0 ? sums.stage_seconds / sums.seconds : 1;
  sums.seconds += seconds;
  sums.stage_seconds += seconds * *share;
  if (piece.use.processor_seconds.has_value()) {
    sums.processor_seconds += *piece.use.processor_seconds;
    sums.processor_measured_seconds += seconds;
  }
  for (const WaitReason resource : kWaitReasons) {
    AddUse(piece.use.of[resource], seconds, *share, sums.waited[resource]);
  }
  if (IsQueue(piece.host)) return;
  const auto [span, is_new] = spans.try_emplace(piece.stage);
  Widen({piece.from, piece.to}, is_new, span->second);
}

void Ledger::Merge(const Ledger& other) {
  for (const auto& [key, from] : other.stages) AddTo(from, stages[key]);
  for (const auto& [key, from] : other.meetings) AddTo(from, meetings[key]);
  for (const auto& [stage, from] : other.spans) {
    const auto [span, is_new] = spans.try_emplace(stage);
    Widen(from, is_new, span->second);
  }
}

void Ledger::MergeTarget(const Ledger& other, Stage target) {
  for (auto at = other.stages.lower_bound({target, Host{}});
       at != other.stages.end() && at->first.stage == target; ++at) {
    AddTo(at->second, stages[at->first]);
  }
  for (auto at = other.meetings.lower_bound({target, Host{}, Stage{}});
       at != other.meetings.end() && at->first.target == target; ++at) {
    AddTo(at->second, meetings[at->first]);
  }
  if (const auto from = other.spans.find(target); from != other.spans.end()) {
    const auto [span, is_new] = spans.try_emplace(target);
    Widen(from->second, is_new, span->second);
  }
}

void Ledger::MergeStage(const Ledger& other, const StageHost& of) {
  const auto from = other.stages.find(of);
  if (from != other.stages.end()) AddTo(from->second, stages[of]);
}

void Ledger::Forget(const absl::flat_hash_set<Stage>& gone, Stage instead) {
  absl::erase_if(stages, [&](const auto& entry) { return gone.contains(entry.first.stage); });
  absl::erase_if(spans, [&](const auto& entry) { return gone.contains(entry.first); });
  absl::btree_map<MeetingKey, Meeting> kept;
  for (const auto& [key, met] : meetings) {
    if (gone.contains(key.target)) continue;
    const Stage source = gone.contains(key.source) ? instead : key.source;
    AddTo(met, kept[{key.target, key.host, source}]);
  }
  meetings = std::move(kept);
}

}  // namespace tidemark::waits
