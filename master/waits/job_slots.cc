#include "master/waits/job_slots.h"

#include <algorithm>
#include <utility>

namespace tidemark::waits {
namespace {

// The time within which a driver fills a slot that became free. Chosen by hand.
constexpr double kRefillSeconds = 0.1;

}  // namespace

void JobSlots::Abandon() {
  is_abandoned_ = true;
  is_known_ = false;
  is_full_ = false;
  free_since_.reset();
  waiting_.clear();
}

void JobSlots::UpdateFullness(double at) {
  now_ = std::max(now_, at);
  const bool no_slot_is_free = is_known_ && slots_ > 0 && running_ >= slots_;
  if (!no_slot_is_free) {
    if (is_full_ && !free_since_) free_since_ = now_;
    return;
  }
  free_since_.reset();
  if (std::exchange(is_full_, true)) return;
  for (auto& [stage, waiting] : waiting_) waiting.until = std::max(waiting.until, now_);
}

std::vector<Piece> JobSlots::Queue(Stage stage, std::uint32_t tasks, double at) {
  std::vector<Piece> pieces;
  if (is_abandoned_) return pieces;
  Settle(at, pieces);
  waiting_[stage] = {.tasks = tasks, .until = std::max(at, now_)};
  return pieces;
}

std::vector<Piece> JobSlots::Start(Stage stage, double at, bool from_queue) {
  std::vector<Piece> pieces;
  Settle(at, pieces);
  const auto found = waiting_.find(stage);
  if (from_queue && found != waiting_.end()) {
    ReportWait(stage, at, /*got_slot=*/true, pieces);
    if (--found->second.tasks == 0) waiting_.erase(found);
  }
  ++running_;
  UpdateFullness(at);
  return pieces;
}

std::vector<Piece> JobSlots::End(double at) {
  std::vector<Piece> pieces;
  Settle(at, pieces);
  --running_;
  UpdateFullness(at);
  return pieces;
}

std::vector<Piece> JobSlots::ReportWaits(double now, double until) {
  std::vector<Piece> pieces;
  Settle(now, pieces);
  for (const auto& [stage, waiting] : waiting_) {
    ReportWait(stage, free_since_.value_or(until), /*got_slot=*/false, pieces);
  }
  return pieces;
}

// Counts a slot as free if it was not filled within kRefillSeconds.
void JobSlots::Settle(double at, std::vector<Piece>& pieces) {
  if (!is_full_ || !free_since_ || at - *free_since_ <= kRefillSeconds) return;
  for (const auto& [stage, waiting] : waiting_) {
    ReportWait(stage, *free_since_, /*got_slot=*/false, pieces);
  }
  is_full_ = false;
  free_since_.reset();
}

void JobSlots::ReportWait(Stage stage, double until, bool got_slot, std::vector<Piece>& pieces) {
  Waiting& waiting = waiting_.at(stage);
  const double from = waiting.until;
  if (!is_full_ || !(from < until)) return;
  waiting.until = until;
  const double tasks = waiting.tasks;
  Piece piece = {.stage = stage,
                 .host = QueueOf(pool_),
                 .pool = pool_,
                 .from = from,
                 .to = until,
                 .use = {},
                 .tasks = tasks};
  piece.use.of[WaitReason::kSlots] = {.wait_seconds = tasks * (until - from),
                                      .units = got_slot ? 1 : 0};
  pieces.push_back(piece);
}

}  // namespace tidemark::waits
