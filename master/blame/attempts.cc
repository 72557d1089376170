#include "master/blame/attempts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark::blame {
namespace {

// What is new of a total, which is remembered. Counts a total that falls.
std::optional<double> Grown(const std::optional<double>& total, double total_max,
                            std::optional<double>& last, bool is_first,
                            std::uint64_t& contradictions) {
  if (!total.has_value()) return std::nullopt;
  const double now = std::min(*total, total_max);
  if (!(now >= 0) || !std::isfinite(now) || *total > total_max) ++contradictions;
  if (!(now >= 0) || !std::isfinite(now)) return std::nullopt;
  // Totals that begin to be told late hold what came before, at an unknown time.
  if (!last.has_value() && !is_first) {
    last = now;
    return std::nullopt;
  }
  const double before = last.value_or(0);
  if (now < before) {
    ++contradictions;
    return std::nullopt;
  }
  last = now;
  return now - before;
}

}  // namespace

std::optional<Piece> Attempts::Start(Attempt attempt, Stage stage, Host host, double at,
                                     std::optional<double> queued_at, Pool pool) {
  if (!std::isfinite(at)) {
    ++contradictions_;
    return std::nullopt;
  }
  if (running_.size() >= attempts_max_ && !running_.contains(attempt)) {
    ++not_followed_;
    return std::nullopt;
  }
  if (!running_.try_emplace(attempt, Running{stage, host, pool, at, at, {}}).second)
    return std::nullopt;
  if (!queued_at.has_value()) return std::nullopt;
  if (!std::isfinite(*queued_at) || *queued_at > at) {
    ++contradictions_;
    return std::nullopt;
  }
  Piece queued{
      .stage = stage, .host = QueueOf(pool), .pool = pool, .from = *queued_at, .to = at, .use = {}};
  queued.use.of[Resource::kScheduler] = {.wait_seconds = at - *queued_at, .units = 1};
  return queued;
}

std::optional<Piece> Attempts::Report(Attempt attempt, double at, const TaskUse& totals) {
  const auto found = running_.find(attempt);
  if (found == running_.end()) return std::nullopt;
  Running& running = found->second;
  if (!(at >= running.heard_at) || !std::isfinite(at)) {
    ++contradictions_;
    return std::nullopt;
  }
  const bool is_first = running.heard_at == running.started_at;
  const double age = at - running.started_at;
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  Piece piece{.stage = running.stage,
              .host = running.host,
              .pool = running.pool,
              .from = running.heard_at,
              .to = at,
              .use = {}};
  piece.use.processor_seconds = Grown(totals.processor_seconds, kUnbounded,
                                      running.totals.processor_seconds, is_first, contradictions_);
  for (const Resource resource : kResources) {
    if (resource == Resource::kScheduler) continue;  // that of a task that has a slot is over
    const Use& total = totals.of[resource];
    Use& last = running.totals.of[resource];
    piece.use.of[resource] = {
        .wait_seconds =
            Grown(total.wait_seconds, age, last.wait_seconds, is_first, contradictions_),
        .units = Grown(total.units, kUnbounded, last.units, is_first, contradictions_)};
  }
  running.heard_at = at;
  return piece;
}

std::optional<Piece> Attempts::End(Attempt attempt, double at,
                                   const std::optional<TaskUse>& totals) {
  std::optional<Piece> last = Report(attempt, at, totals.value_or(TaskUse{}));
  running_.erase(attempt);
  return last;
}

}  // namespace tidemark::blame
