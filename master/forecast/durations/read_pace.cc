#include "master/forecast/durations/read_pace.h"

#include <algorithm>
#include <cmath>

#include "master/facts/phases.h"
#include "master/forecast/durations/opinions.h"

namespace tidemark::cost {
namespace {

double BytesRead(const model::Task& task, double all) {
  if (task.is_over()) return all;
  const model::TaskAttempt* attempt = task.leading_attempt();
  if (attempt == nullptr) return 0;
  auto read = static_cast<double>(attempt->bytes_done);
  if (attempt->reduce->running_group) {
    read += static_cast<double>(attempt->reduce->running_group->bytes_read);
  }
  return std::min(read, all);
}

// Whether somebody has begun and everybody who has is cold: their pace will not stay.
bool AllAreCold(const model::JobRecord& state) {
  bool has_cold = false;
  for (const model::Task& task : state.reduce_tasks()) {
    if (task.is_finished()) return false;
    const model::TaskAttempt* attempt = task.leading_attempt();
    if (attempt == nullptr || attempt->bytes_done == 0) continue;
    if (!attempt->reduce->is_cold()) return false;
    has_cold = true;
  }
  return has_cold;
}

}  // namespace

std::optional<Draws> SecondsByBytesRead(const model::JobRecord& state, absl::Time now,
                                        const FixedDraws& draws) {
  const std::optional<absl::Time> start = model::ReducePhaseStart(state);
  if (!start || AllAreCold(state)) return std::nullopt;
  double read = 0;
  double all = 0;
  for (std::size_t i = 0; i < state.reduce_tasks().size(); ++i) {
    const auto bytes = static_cast<double>(state.reduce_input_bytes(i));
    read += BytesRead(state.reduce_tasks()[i], bytes);
    all += bytes;
  }
  const double left = absl::ToDoubleSeconds(now - *start) * (all - read) / read;
  if (!(left > 0) || !std::isfinite(left)) return std::nullopt;
  return LogNormal(std::log(left), kUnknownDeviation, Opinion::kBytesRead, draws);
}

}  // namespace tidemark::cost
