#include "master/model/tidemark/read_pace.h"

#include <algorithm>
#include <cmath>

#include "master/cost/opinions.h"
#include "master/model/leading_attempt.h"
#include "master/model/phases.h"

namespace tidemark::model {
namespace {

constexpr double kDeviation = 1;

double BytesRead(const ReduceTask& task, double all) {
  if (task.is_finished()) return all;
  const ReduceAttempt* attempt = LeadingAttempt(task);
  if (attempt == nullptr) return 0;
  auto read = static_cast<double>(attempt->bytes_done);
  if (attempt->running_group) read += static_cast<double>(attempt->running_group->bytes_read);
  return std::min(read, all);
}

// Whether somebody has begun and everybody who has is cold: their pace will not stay.
bool AllAreCold(const JobState& state) {
  bool has_cold = false;
  for (const ReduceTask& task : state.reduce_tasks) {
    if (task.is_finished()) return false;
    const ReduceAttempt* attempt = LeadingAttempt(task);
    if (attempt == nullptr || attempt->bytes_done == 0) continue;
    if (!attempt->is_cold()) return false;
    has_cold = true;
  }
  return has_cold;
}

}  // namespace

std::optional<cost::Draws> SecondsByBytesRead(const JobState& state, absl::Time now,
                                              const cost::FixedDraws& draws) {
  const std::optional<absl::Time> start = ReducePhaseStart(state);
  if (!start || AllAreCold(state)) return std::nullopt;
  double read = 0;
  double all = 0;
  for (std::size_t i = 0; i < state.reduce_tasks.size(); ++i) {
    const auto bytes = static_cast<double>(state.reduce_input_bytes(i));
    read += BytesRead(state.reduce_tasks[i], bytes);
    all += bytes;
  }
  const double left = absl::ToDoubleSeconds(now - *start) * (all - read) / read;
  if (!(left > 0) || !std::isfinite(left)) return std::nullopt;
  return cost::LogNormal(std::log(left), kDeviation, cost::Opinion::kBytesRead, draws);
}

}  // namespace tidemark::model
