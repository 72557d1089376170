#include "master/monitor/task_list.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "master/forecast/durations/draws.h"
#include "master/monitor/stragglers.h"

namespace tidemark::monitor {
namespace {

using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

Key KeyOf(const AttemptId& id) { return {id.stage, id.index, id.stage_attempt, id.attempt}; }

// Clamps times that come from untrusted peers, since their sum may overflow.
absl::Duration BoundedSeconds(double seconds) {
  constexpr double kSecondsMax = 1e10;
  return absl::Seconds(std::isfinite(seconds) ? std::clamp(seconds, 0.0, kSecondsMax)
                                              : kSecondsMax);
}

// Returns the remaining time of a task that was estimated `aged` ago.
Range RangeOf(const TaskLeft& task, const durations::RemainingStages* draws, absl::Duration aged) {
  const auto from_now = [aged](double seconds) {
    return std::max(BoundedSeconds(seconds) - aged, absl::ZeroDuration());
  };
  Range range = {.median = from_now(task.seconds)};
  if (draws == nullptr || task.stage >= draws->stages.size()) return range;
  const std::vector<durations::Draws>& of_task = draws->stages[task.stage].times.of_task;
  if (task.place >= of_task.size() || of_task[task.place].empty()) return range;
  durations::Draws seconds = of_task[task.place];
  const double median = durations::QuantileOf(seconds, 0.5);
  if (!(median > 0)) return range;
  // The draws are times alone. Shared processors lengthen them proportionally.
  const double longer = task.seconds / median;
  range.lower = std::min(from_now(longer * durations::QuantileOf(seconds, 0.05)), range.median);
  range.upper = std::max(from_now(longer * durations::QuantileOf(seconds, 0.95)), range.median);
  return range;
}

std::vector<TaskProgress> AllTasks(const facts::JobRecord& state, const TasksLeft& left,
                                   absl::Time now) {
  std::map<Key, const TaskLeft*> known;
  for (const TaskLeft& task : left.running) known.emplace(KeyOf(task.attempt), &task);
  std::vector<TaskProgress> tasks;
  for (const auto& [number, stage] : state.stages) {
    for (const facts::Task& task : stage.tasks) {
      for (const auto& [which, attempt] : task.attempts) {
        const facts::AttemptLife& life = attempt.life;
        if (life.state() == AttemptState::kQueued) continue;
        TaskProgress& listed = tasks.emplace_back();
        listed = {.attempt = {number, task.index, which.second, which.first},
                  .state = life.state(),
                  .host = life.host,
                  .started_at = life.started_at(),
                  .ended_at = life.ended_at(),
                  .is_speculative = life.speculative,
                  .failure = life.failure};
        const facts::InputDone done = attempt.input_done();
        if (life.started_at()) {
          listed.throughput = ThroughputOf(done.bytes, done.records,
                                           life.ended_at().value_or(now) - *life.started_at());
        }
        if (!life.is_running()) continue;
        const auto found = known.find(KeyOf(listed.attempt));
        if (found == known.end()) continue;
        listed.remaining = RangeOf(*found->second, left.draws.get(),
                                   std::max(now - left.at, absl::ZeroDuration()));
      }
    }
  }
  return tasks;
}

// Adds an attempt to those parts of `busy` in which it ran.
void AddBusy(const TaskProgress& task, absl::Time began_at, absl::Time now,
             std::vector<double>& busy) {
  const double length = absl::ToDoubleSeconds(now - began_at) / static_cast<double>(busy.size());
  if (!task.started_at || length <= 0) return;
  const bool has_ended =
      task.state != AttemptState::kStarted && task.state != AttemptState::kShuffled;
  if (has_ended && !task.ended_at) return;
  const double most = static_cast<double>(busy.size());
  const auto part = [&](absl::Time at) {
    return std::clamp(absl::ToDoubleSeconds(at - began_at) / length, 0.0, most);
  };
  const double from = part(*task.started_at);
  const double to = part(has_ended ? *task.ended_at : now);
  for (auto i = static_cast<std::size_t>(from); i < busy.size() && static_cast<double>(i) < to;
       ++i) {
    const double begin = static_cast<double>(i);
    busy[i] += std::min(to, begin + 1) - std::max(from, begin);
  }
}

std::vector<HostTasks> HostsOf(const std::vector<TaskProgress>& tasks,
                               std::optional<absl::Time> began_at, absl::Time now) {
  std::map<std::string, HostTasks> hosts;
  for (const TaskProgress& task : tasks) {
    HostTasks& host = hosts[task.host];
    host.host = task.host;
    if (host.busy.empty() && began_at) host.busy.resize(kBusyParts);
    if (began_at) AddBusy(task, *began_at, now, host.busy);
    switch (task.state) {
      case AttemptState::kFinished:
        ++host.finished;
        break;
      case AttemptState::kFailed:
      case AttemptState::kKilled:
      case AttemptState::kObsolete:
        ++host.failed;
        break;
      case AttemptState::kLost:
        break;
      case AttemptState::kQueued:
      case AttemptState::kStarted:
      case AttemptState::kShuffled:
        ++host.running;
        break;
    }
  }
  std::vector<HostTasks> all;
  all.reserve(hosts.size());
  for (auto& [name, host] : hosts) all.push_back(std::move(host));
  return all;
}

// Keeps the hosts with the most running tasks, by name. Returns the number of removed tasks.
std::size_t KeepBusiest(std::vector<HostTasks>& hosts) {
  if (hosts.size() <= kHostsMax) return 0;
  const std::size_t left_out = hosts.size() - kHostsMax;
  std::ranges::stable_sort(hosts, [](const HostTasks& a, const HostTasks& b) {
    return std::tuple(a.running, a.finished) > std::tuple(b.running, b.finished);
  });
  hosts.resize(kHostsMax);
  std::ranges::sort(hosts, {}, &HostTasks::host);
  return left_out;
}

// Keeps the requested tasks. If there are too many, keeps the tasks that started last. Returns the
// number of removed requested tasks.
std::size_t KeepRequested(const TaskQuery& query, std::vector<TaskProgress>& tasks) {
  if (query.host) {
    std::erase_if(tasks, [&](const TaskProgress& task) { return task.host != *query.host; });
  }
  const auto start = [](const TaskProgress& task) {
    return task.started_at.value_or(absl::InfinitePast());
  };
  std::size_t left_out = 0;
  if (tasks.size() > query.tasks_max) {
    left_out = tasks.size() - (query.host ? query.tasks_max : 0);
    std::ranges::stable_sort(tasks, std::greater<>(), start);
    tasks.resize(query.host ? query.tasks_max : 0);
  }
  std::ranges::stable_sort(tasks, [&](const TaskProgress& a, const TaskProgress& b) {
    return std::tuple(a.host, start(a)) < std::tuple(b.host, start(b));
  });
  return left_out;
}

std::vector<HeavyGroup> HeavyGroups(const facts::JobRecord& state,
                                    std::span<const forecast::ReduceTaskForecast> forecasts) {
  std::vector<HeavyGroup> groups;
  const std::span<const facts::Task> tasks = state.reduce_tasks();
  for (const forecast::ReduceTaskForecast& task : forecasts) {
    const bool is_known = task.heaviest.size_bytes > 0 &&
                          task.heaviest_time > absl::ZeroDuration() && task.index < tasks.size() &&
                          !tasks[task.index].is_over();
    if (!is_known) continue;
    const facts::TaskAttempt* const attempt = tasks[task.index].leading_attempt();
    HeavyGroup& group = groups.emplace_back();
    group = {.attempt = LeadingAttemptId(tasks[task.index]),
             .size_bytes = task.heaviest.size_bytes,
             .time = BoundedSeconds(absl::ToDoubleSeconds(task.heaviest_time))};
    if (task.reduce_time_left > absl::ZeroDuration()) {
      group.share =
          std::clamp(absl::FDivDuration(task.heaviest_time, task.reduce_time_left), 0.0, 1.0);
    }
    group.is_running = attempt != nullptr && attempt->reduce && attempt->reduce->running_group &&
                       attempt->reduce->running_group->key == task.heaviest.key;
  }
  std::ranges::stable_sort(groups, std::greater<>(), &HeavyGroup::time);
  if (groups.size() > kHeavyGroupsMax) groups.resize(kHeavyGroupsMax);
  return groups;
}

}  // namespace

std::vector<TaskLeft> ReduceTasksLeft(const facts::JobRecord& state,
                                      const forecast::ReducePhaseForecast& forecast,
                                      absl::Time now) {
  std::vector<TaskLeft> running;
  const std::span<const facts::Task> tasks = state.reduce_tasks();
  for (const forecast::ReduceTaskForecast& task : forecast.tasks) {
    if (task.index >= tasks.size() || tasks[task.index].leading_attempt() == nullptr) continue;
    if (task.ends_at == absl::InfiniteFuture()) continue;
    const std::size_t place = running.size();
    running.push_back({.attempt = LeadingAttemptId(tasks[task.index]),
                       .seconds = absl::ToDoubleSeconds(task.ends_at - now),
                       .place = place});
  }
  // The draws are in the order of running tasks by index, then waiting tasks. If the numbers of
  // draws and tasks differ, they cannot be matched.
  const bool is_in_order = forecast.left != nullptr && !forecast.left->stages.empty() &&
                           forecast.left->stages[0].work.running.size() == running.size() &&
                           forecast.evidence.has_value();
  if (!is_in_order) {
    for (TaskLeft& task : running) task.place = static_cast<std::size_t>(-1);
  }
  return running;
}

JobTasks ListTasks(const facts::JobRecord& state, const TasksLeft& left, const TaskQuery& query,
                   absl::Time now) {
  JobTasks list = {.at = now, .tasks = AllTasks(state, left, now)};
  for (const TaskProgress& task : list.tasks) {
    if (!task.started_at) continue;
    list.began_at = std::min(list.began_at.value_or(*task.started_at), *task.started_at);
  }
  list.hosts = HostsOf(list.tasks, list.began_at, now);
  list.hosts_left_out = KeepBusiest(list.hosts);
  list.tasks_left_out = KeepRequested(query, list.tasks);
  list.heavy_groups = HeavyGroups(state, left.of_groups);
  return list;
}

std::vector<PastForecast> ThinnedForecasts(std::span<const facts::EndPrediction> predictions,
                                           absl::Time started_at, std::size_t most) {
  std::vector<PastForecast> kept;
  if (predictions.empty() || most == 0) return kept;
  const std::size_t stride = (predictions.size() + most - 1) / most;
  // The offset ensures that the last forecast is chosen.
  for (std::size_t i = (predictions.size() - 1) % stride; i < predictions.size(); i += stride) {
    const facts::EndPrediction& each = predictions[i];
    const auto part = [&](std::optional<absl::Time> end) {
      return facts::Progress(started_at, each.at, end);
    };
    PastForecast& forecast = kept.emplace_back();
    forecast = {.at = each.at,
                .ends_at = each.end,
                .ends_at_lower = each.lower,
                .ends_at_upper = each.upper,
                .fraction_done = part(each.shown_end ? each.shown_end : each.end)};
    const double done = forecast.fraction_done;
    forecast.fraction_done_lower = each.upper ? std::min(part(each.upper), done) : done;
    forecast.fraction_done_upper = each.lower ? std::max(part(each.lower), done) : done;
  }
  return kept;
}

}  // namespace tidemark::monitor
