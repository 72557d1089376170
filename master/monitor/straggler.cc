#include "master/monitor/straggler.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "master/facts/saturating.h"
#include "text/size_text.h"

namespace tidemark::model {
namespace {

// A single key group is named as the reason when it makes up this part of what its task has left.
constexpr double kHeavyShare = 0.2;
// From here on a percentage says no more than "nearly all". Taste.
constexpr double kNearlyAll = 0.95;

// "61 % of"
std::string ShareText(double share) {
  if (share >= kNearlyAll) return "nearly all of";
  return fmt::format("{} % of", static_cast<int>(100 * share));
}

std::string Reason(const NamedTask& straggler, const TaskAttempt* attempt,
                   std::uint64_t bytes_left) {
  const AttemptId& id = straggler.attempt;
  const std::string ends_last =
      fmt::format("Reduce task {}{} ends last", id.index,
                  id.attempt == 0 ? "" : fmt::format(", attempt {},", id.attempt));
  const std::string group = text::SizeText(straggler.heaviest_group_bytes);
  const std::string share = ShareText(straggler.heaviest_group_share);
  if (straggler.in_heaviest_group) {
    return fmt::format("{}: {} key, {} its remaining time", ends_last, group, share);
  }
  if (straggler.heaviest_group_share >= kHeavyShare) {
    return fmt::format("{}: {} key still to come, {} its remaining time", ends_last, group, share);
  }
  if (attempt == nullptr) return fmt::format("{}: waiting for a slot", ends_last);
  if (bytes_left == 0) return ends_last;
  return fmt::format("{}: {} left to reduce", ends_last, text::SizeText(bytes_left));
}

AttemptId LeadingAttemptId(const JobRecord& state, std::size_t index) {
  AttemptId id{kReduceStage, static_cast<std::uint32_t>(index), 0};
  const TaskAttempt* leading = state.reduce_tasks()[index].leading_attempt();
  for (const auto& [number, attempt] : state.reduce_tasks()[index].attempts) {
    if (&attempt == leading) id.attempt = number.second;
  }
  return id;
}

}  // namespace

std::optional<NamedTask> FindStraggler(const JobRecord& state, const ReducePhaseForecast& forecast,
                                       absl::Time now) {
  const auto last =
      std::max_element(forecast.tasks.begin(), forecast.tasks.end(),
                       [](const auto& a, const auto& b) { return a.ends_at < b.ends_at; });
  if (last == forecast.tasks.end()) return std::nullopt;
  const TaskAttempt* attempt = state.reduce_tasks()[last->index].leading_attempt();
  NamedTask straggler{.attempt = LeadingAttemptId(state, last->index),
                      .explicit_groups_left = last->explicit_groups_left,
                      .heaviest_group_bytes = last->heaviest.size_bytes};
  straggler.waits_for_slot = attempt == nullptr;
  if (attempt != nullptr) straggler.host = attempt->life.host;
  if (last->ends_at > now && last->ends_at != absl::InfiniteFuture()) {
    straggler.remaining = Range{.median = last->ends_at - now};
  }
  if (last->reduce_time_left > absl::ZeroDuration()) {
    straggler.heaviest_group_share =
        std::clamp(absl::FDivDuration(last->heaviest_time, last->reduce_time_left), 0.0, 1.0);
  }
  straggler.in_heaviest_group = attempt != nullptr && attempt->reduce->running_group &&
                                straggler.heaviest_group_bytes > 0 &&
                                attempt->reduce->running_group->key == last->heaviest.key;
  const std::uint64_t done = attempt == nullptr ? 0 : attempt->bytes_done;
  straggler.reason =
      Reason(straggler, attempt, SaturatingSubtract(state.reduce_input_bytes(last->index), done));
  return straggler;
}

}  // namespace tidemark::model
