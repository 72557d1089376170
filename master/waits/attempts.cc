#include "master/waits/attempts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark::waits {
namespace {

// Returns the seconds of all waits that include service, or of all that do not.
double WaitedFor(const Piece& piece, bool with_service) {
  double seconds = 0;
  for (const WaitReason reason : kWaitReasons) {
    if (InfoOf(reason).includes_service != with_service) continue;
    seconds += piece.use.of[reason].wait_seconds.value_or(0);
  }
  return seconds;
}

// Connectors measure collections, fetches and writes with a clock, so these times include the waits
// for a processor, and a fetch includes collections. If the waits exceed the time in which they can
// have happened, the excess was counted twice.
void CutDoubleCounts(double seconds, Piece& piece) {
  PerWaitReason<Use>& of = piece.use.of;
  const auto waited = [&](WaitReason resource) { return of[resource].wait_seconds.value_or(0); };
  double left = seconds;
  for (const WaitReason reason : kWaitReasons) {
    if (InfoOf(reason).includes_service) continue;
    std::optional<double>& wait = of[reason].wait_seconds;
    if (wait && reason != WaitReason::kProcessor) wait = std::min(*wait, left);
    left = std::max(0.0, left - waited(reason));
  }
  const double moved = WaitedFor(piece, /*with_service=*/true);
  if (moved <= left) return;
  for (const WaitReason reason : kWaitReasons) {
    std::optional<double>& wait = of[reason].wait_seconds;
    if (wait && InfoOf(reason).includes_service) *wait *= left / moved;
  }
}

}  // namespace

// Returns the growth of a total since the attempt's previous report.
std::optional<double> Attempts::Growth(const Running& running, double at,
                                       const std::optional<double>& reported, double total_max,
                                       Total& last) {
  if (!reported.has_value()) return std::nullopt;
  const double now = std::min(*reported, total_max);
  if (!(now >= last.amount) || !std::isfinite(now) || *reported > total_max) ++contradictions_;
  if (!(now >= last.amount) || !std::isfinite(now)) return std::nullopt;
  const double growth = now - last.amount;
  const double since = at - last.known_at;
  const double since_report = at - running.reported_at;
  last = {now, at};
  return since > since_report ? growth * since_report / since : growth;
}

std::optional<Piece> Attempts::Start(Attempt attempt, Stage stage, Host host, double at,
                                     std::optional<double> queued_at, Pool pool) {
  if (!std::isfinite(at)) {
    ++contradictions_;
    return std::nullopt;
  }
  if (running_.size() >= attempts_max_) return std::nullopt;
  const auto [started, is_new] = running_.try_emplace(attempt);
  if (!is_new) return std::nullopt;
  Running& running = started->second;
  running = {.stage = stage,
             .host = host,
             .pool = pool,
             .started_at = at,
             .reported_at = at,
             .moving_from = at};
  running.processor_seconds.known_at = at;
  for (const WaitReason resource : kWaitReasons) {
    running.wait_seconds[resource].known_at = at;
    running.units[resource].known_at = at;
  }
  if (!queued_at.has_value()) return std::nullopt;
  if (!std::isfinite(*queued_at) || *queued_at > at) {
    ++contradictions_;
    return std::nullopt;
  }
  Piece queued{
      .stage = stage, .host = QueueOf(pool), .pool = pool, .from = *queued_at, .to = at, .use = {}};
  queued.use.of[WaitReason::kSlots] = {.wait_seconds = at - *queued_at, .units = 1};
  return queued;
}

std::optional<Piece> Attempts::Report(Attempt attempt, double at, const TaskUse& totals) {
  const auto found = running_.find(attempt);
  if (found == running_.end()) return std::nullopt;
  Running& running = found->second;
  if (!(at >= running.reported_at) || !std::isfinite(at)) {
    ++contradictions_;
    return std::nullopt;
  }
  const double age = at - running.started_at;
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  Piece piece{.stage = running.stage,
              .host = running.host,
              .pool = running.pool,
              .from = running.reported_at,
              .to = at,
              .use = {}};
  piece.use.processor_seconds =
      Growth(running, at, totals.processor_seconds, kUnbounded, running.processor_seconds);
  for (const WaitReason resource : kWaitReasons) {
    if (resource == WaitReason::kSlots) continue;  // A task with a slot no longer waits for one.
    const Use& total = totals.of[resource];
    piece.use.of[resource] = {
        .wait_seconds =
            Growth(running, at, total.wait_seconds, age, running.wait_seconds[resource]),
        .units = Growth(running, at, total.units, kUnbounded, running.units[resource])};
  }
  CutDoubleCounts(at - running.moving_from - running.waited_since, piece);
  const double moved = WaitedFor(piece, /*with_service=*/true);
  if (moved > 0) {
    running.moving_from = piece.from;
    running.waited_since = 0;
  }
  // A wait that began before the piece is limited to the length of the piece.
  const double waited = WaitedFor(piece, /*with_service=*/false) + moved;
  running.waited_since += std::min(waited, piece.seconds());
  running.reported_at = at;
  return piece;
}

std::optional<Piece> Attempts::End(Attempt attempt, double at,
                                   const std::optional<TaskUse>& totals) {
  std::optional<Piece> last = Report(attempt, at, totals.value_or(TaskUse{}));
  running_.erase(attempt);
  return last;
}

}  // namespace tidemark::waits
