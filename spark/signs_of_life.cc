#include "spark/signs_of_life.h"

#include <utility>
#include <variant>

namespace tidemark::spark {
namespace {

// Limits what a log costs a master while it does not grow; so many are sign enough that the job
// lives.
constexpr std::size_t kToldMax = 1000;

}  // namespace

void SignsOfLife::Observe(const Event& event) {
  job_id_ = event.job_id;
  run_uid_ = event.run_uid;
  const auto* changed = std::get_if<AttemptChanged>(&event.body);
  if (changed == nullptr) return;
  const AttemptId& id = changed->attempt;
  const std::tuple key(id.stage, id.stage_attempt, id.index, id.attempt);
  if (changed->state == AttemptState::kStarted) {
    if (running_.size() < kToldMax) running_.insert(key);
  } else {
    running_.erase(key);
  }
}

void SignsOfLife::Tell(absl::Time at, Take take) {
  if (job_id_.empty()) return;
  const auto tell = [&](EventBody body) {
    take({.job_id = job_id_,
          .run_uid = run_uid_,
          .source_id = source_id_,
          .sequence = ++sequence_,
          .sent_at = at,
          .arrived_at = at,
          .body = std::move(body)});
  };
  for (const auto& [stage, stage_attempt, index, attempt] : running_) {
    tell(TaskHeartbeat{
        .attempt = {
            .stage = stage, .index = index, .attempt = attempt, .stage_attempt = stage_attempt}});
  }
  if (running_.empty()) tell(JobOpened{});  // that it exists
}

}  // namespace tidemark::spark
