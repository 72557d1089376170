#include "master/model/leading_attempt.h"

namespace tidemark::model {

const ReduceAttempt* LeadingAttempt(const ReduceTask& task) {
  if (task.is_finished()) return nullptr;
  const ReduceAttempt* leading = nullptr;
  for (const auto& [number, attempt] : task.attempts) {
    if (!attempt.life.is_running()) continue;
    if (leading == nullptr || attempt.bytes_done > leading->bytes_done) leading = &attempt;
  }
  return leading;
}

}  // namespace tidemark::model
