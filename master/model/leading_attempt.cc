#include "master/model/leading_attempt.h"

namespace tidemark::model {
namespace {

template <typename Attempt, typename Task>
const Attempt* Leading(const Task& task) {
  if (task.is_finished()) return nullptr;
  const Attempt* leading = nullptr;
  for (const auto& [number, attempt] : task.attempts) {
    if (!attempt.life.is_running()) continue;
    if (leading == nullptr || attempt.bytes_done > leading->bytes_done) leading = &attempt;
  }
  return leading;
}

}  // namespace

const MapAttempt* LeadingAttempt(const MapTask& task) { return Leading<MapAttempt>(task); }
const ReduceAttempt* LeadingAttempt(const ReduceTask& task) { return Leading<ReduceAttempt>(task); }

}  // namespace tidemark::model
