#include "master/monitor/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "master/facts/evidence_loss.h"
#include "master/forecast/durations/draws.h"
#include "text/size_text.h"

namespace tidemark::monitor {
namespace {

// A key group is named as the reason if it makes up this part of its task's remaining time. Chosen
// by hand.
constexpr double kHeavyShare = 1.0 / 3;
// A larger share is displayed as "nearly all". Chosen by hand.
constexpr double kNearlyAll = 0.95;

// Returns a phrase such as "61 % of".
std::string ShareText(double share) {
  if (share >= kNearlyAll) return "nearly all of";
  return fmt::format("{} % of", static_cast<int>(100 * share));
}

// `bytes_left` is the remainder of the input at the last report.
std::string Reason(const NamedTask& straggler, std::uint64_t bytes_left, bool has_reported) {
  const AttemptId& id = straggler.attempt;
  const std::string ends_last =
      fmt::format("Reduce task {}{} will end last", id.index,
                  id.attempt == 0 ? "" : fmt::format(", attempt {},", id.attempt));
  const std::string group = text::SizeText(straggler.heaviest_group_bytes);
  const std::string share = ShareText(straggler.heaviest_group_share);
  if (straggler.heaviest_group_share >= kHeavyShare) {
    return fmt::format("{}: {} key of {} takes {} its remaining time", ends_last,
                       straggler.in_heaviest_group ? "a" : "an upcoming", group, share);
  }
  if (bytes_left == 0) return ends_last;
  const std::string size = text::SizeText(bytes_left);
  if (straggler.waits_for_slot) {
    return fmt::format("{}: it has not started and has {} to reduce", ends_last, size);
  }
  return has_reported ? fmt::format("{}: it had {} left at its last report", ends_last, size)
                      : fmt::format("{}: it has {} to reduce", ends_last, size);
}

// A task is a straggler if it has run for this multiple of the median of its stage. Spark starts a
// speculative attempt at the same limit (spark.speculation.multiplier).
constexpr double kLate = 1.5;
// The median needs this many finished tasks. Chosen by hand.
constexpr std::size_t kEndedMin = 3;

// Returns the median in seconds, or nullopt if too few tasks have ended.
std::optional<double> MedianOf(const std::vector<dag::FinishedTask>& tasks) {
  if (tasks.size() < kEndedMin) return std::nullopt;
  std::vector<double> seconds;
  for (const dag::FinishedTask& task : tasks) seconds.push_back(task.seconds);
  return durations::QuantileOf(seconds, 0.5);
}

std::string NameOf(const AttemptId& id) {
  return id.attempt == 0 ? fmt::format("Task {}", id.index)
                         : fmt::format("Task {}, attempt {},", id.index, id.attempt);
}

}  // namespace

const facts::TaskAttempt* FindAttempt(const facts::JobRecord& state, const AttemptId& id) {
  const auto stage = state.stages.find(id.stage);
  if (stage == state.stages.end()) return nullptr;
  const auto place = stage->second.places.find(id.index);
  const std::size_t at = place == stage->second.places.end() ? id.index : place->second;
  if (at >= stage->second.tasks.size()) return nullptr;
  const auto& attempts = stage->second.tasks[at].attempts;
  const auto attempt = attempts.find({id.stage_attempt, id.attempt});
  return attempt == attempts.end() ? nullptr : &attempt->second;
}

AttemptId LeadingAttemptId(const facts::Task& task) {
  AttemptId id = {.stage = kReduceStage, .index = task.index};
  const facts::TaskAttempt* const leading = task.leading_attempt();
  for (const auto& [number, attempt] : task.attempts) {
    if (&attempt == leading) id = {id.stage, id.index, number.second, number.first};
  }
  return id;
}

std::optional<NamedTask> LastReduceTask(const facts::JobRecord& state,
                                        const forecast::ReducePhaseForecast& forecast,
                                        absl::Time now) {
  const auto last =
      std::max_element(forecast.tasks.begin(), forecast.tasks.end(),
                       [](const auto& a, const auto& b) { return a.ends_at < b.ends_at; });
  if (last == forecast.tasks.end()) return std::nullopt;
  const facts::Task& task = state.reduce_tasks()[last->index];
  const facts::TaskAttempt* attempt = task.leading_attempt();
  NamedTask straggler{.attempt = LeadingAttemptId(task),
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
      Reason(straggler, facts::SaturatingSubtract(state.reduce_input_bytes(last->index), done),
             /*has_reported=*/done > 0);
  return straggler;
}

std::vector<NamedTask> FindStragglers(const facts::JobRecord& state, absl::Time now,
                                      const dag::WorkflowNow& seen,
                                      const dag::ApplicationForecast& forecast) {
  std::vector<std::pair<double, NamedTask>> found;  // seconds until it ends
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const dag::StageNow& stage = seen.stages[i];
    const std::vector<double>& ends = forecast.stages[i].task_ends;
    if (stage.running.empty() || ends.size() < stage.running.size()) continue;
    const std::optional<double> median = MedianOf(stage.finished);
    const bool have_all_begun = stage.finished.size() + stage.running.size() >= stage.tasks;
    const auto running_end = ends.begin() + static_cast<std::ptrdiff_t>(stage.running.size());
    const auto last =
        static_cast<std::size_t>(std::max_element(ends.begin(), running_end) - ends.begin());
    for (std::size_t n = 0; n < stage.running.size(); ++n) {
      const dag::RunningTask& task = stage.running[n];
      const facts::TaskAttempt& attempt = *FindAttempt(state, task.id);
      if (facts::MayHaveEnded(state, state.stages.at(task.id.stage), attempt, now)) continue;
      NamedTask named = {.attempt = task.id};
      if (median && *median > 0 && task.elapsed > kLate * *median) {
        named.reason = fmt::format(
            "{} of stage {} has run {:.1f} times as long as the median of the finished tasks",
            NameOf(task.id), stage.number, task.elapsed / *median);
      } else if (have_all_begun && n == last && forecast.stages[i].is_critical) {
        named.reason = fmt::format("{} is predicted to be the last of stage {} to end",
                                   NameOf(task.id), stage.number);
      } else {
        continue;
      }
      if (ends[n] > 0) named.remaining = Range{.median = absl::Seconds(ends[n])};
      found.emplace_back(ends[n], std::move(named));
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (found.size() > kStragglersMax) found.resize(kStragglersMax);
  std::vector<NamedTask> named;
  for (auto& [end, task] : found) {
    task.host = FindAttempt(state, task.attempt)->life.host;
    named.push_back(std::move(task));
  }
  return named;
}

void InsertStraggler(NamedTask straggler, std::vector<NamedTask>& named) {
  std::erase_if(named, [&](const NamedTask& other) { return other.attempt == straggler.attempt; });
  const auto left = [](const NamedTask& task) {
    return task.remaining ? task.remaining->median : absl::ZeroDuration();
  };
  const auto place = std::ranges::find_if(
      named, [&](const NamedTask& other) { return left(other) < left(straggler); });
  named.insert(place, std::move(straggler));
  if (named.size() > kStragglersMax) named.pop_back();
}

}  // namespace tidemark::monitor
