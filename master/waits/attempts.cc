#include "master/waits/attempts.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace tidemark::blame {
namespace {

// Connectors time collections, fetches and writes by the clock: what the task waited meanwhile for
// a processor, or a fetch for a collection, is in them, too. What does not fit beside that into the
// seconds in which it can have been was counted twice.
void CutWhatIsCountedTwice(double seconds, Piece& piece) {
  PerResource<Use>& of = piece.use.of;
  const auto waited = [&](Resource resource) { return of[resource].wait_seconds.value_or(0); };
  double left = std::max(0.0, seconds - waited(Resource::kProcessor));
  std::optional<double>& collected = of[Resource::kMemory].wait_seconds;
  if (collected) collected = std::min(*collected, left);
  left -= waited(Resource::kMemory);
  const double moved = waited(Resource::kNetwork) + waited(Resource::kIo);
  if (moved <= left) return;
  for (const Resource resource : {Resource::kNetwork, Resource::kIo}) {
    std::optional<double>& wait = of[resource].wait_seconds;
    if (wait) *wait *= left / moved;
  }
}

double WaitedFor(const Piece& piece, std::initializer_list<Resource> resources) {
  double seconds = 0;
  for (const Resource resource : resources) {
    seconds += piece.use.of[resource].wait_seconds.value_or(0);
  }
  return seconds;
}

}  // namespace

// What is new of a total in the time since the attempt was heard of last.
std::optional<double> Attempts::Grown(const Running& running, double at,
                                      const std::optional<double>& told, double total_max,
                                      Total& last) {
  if (!told.has_value()) return std::nullopt;
  const double now = std::min(*told, total_max);
  if (!(now >= last.amount) || !std::isfinite(now) || *told > total_max) ++contradictions_;
  if (!(now >= last.amount) || !std::isfinite(now)) return std::nullopt;
  const double grown = now - last.amount;
  const double since = at - last.told_at;
  const double heard_since = at - running.heard_at;
  last = {now, at};
  return since > heard_since ? grown * heard_since / since : grown;
}

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
  const auto [started, is_new] = running_.try_emplace(attempt);
  if (!is_new) return std::nullopt;
  Running& running = started->second;
  running = {.stage = stage,
             .host = host,
             .pool = pool,
             .started_at = at,
             .heard_at = at,
             .moving_from = at};
  running.processor_seconds.told_at = at;
  for (const Resource resource : kResources) {
    running.wait_seconds[resource].told_at = at;
    running.units[resource].told_at = at;
  }
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
  const double age = at - running.started_at;
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  Piece piece{.stage = running.stage,
              .host = running.host,
              .pool = running.pool,
              .from = running.heard_at,
              .to = at,
              .use = {}};
  piece.use.processor_seconds =
      Grown(running, at, totals.processor_seconds, kUnbounded, running.processor_seconds);
  for (const Resource resource : kResources) {
    if (resource == Resource::kScheduler) continue;  // that of a task that has a slot is over
    const Use& total = totals.of[resource];
    piece.use.of[resource] = {
        .wait_seconds = Grown(running, at, total.wait_seconds, age, running.wait_seconds[resource]),
        .units = Grown(running, at, total.units, kUnbounded, running.units[resource])};
  }
  CutWhatIsCountedTwice(at - running.moving_from - running.waited_since, piece);
  const double moved = WaitedFor(piece, {Resource::kNetwork, Resource::kIo});
  if (moved > 0) {
    running.moving_from = piece.from;
    running.waited_since = 0;
  }
  // Of a wait that began before the piece no more than all of the piece was in it.
  const double waited = WaitedFor(piece, {Resource::kProcessor, Resource::kMemory}) + moved;
  running.waited_since += std::min(waited, piece.seconds());
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
