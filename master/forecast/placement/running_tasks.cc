#include "master/forecast/placement/running_tasks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace tidemark::placement {
namespace {

// Guards divisions. Tasks always make progress, even if many tasks compete.
constexpr double kSpeedMin = 1e-6;
// Limits memory. The rates of this many host states are kept.
constexpr std::size_t kKnownRatesMax = 10'000;
// These constants limit the cost of MeanStretch().
constexpr double kStretchSlotsMax = 12;
constexpr double kStretchWavesMax = 4;

}  // namespace

double SharedHost::Speed(double tasks) const {
  const double compete = others + tasks;
  return compete > processors ? std::max(processors / compete, kSpeedMin) : 1;
}

RunningTasks::RunningTasks(std::vector<SharedHost> hosts, std::vector<TaskDemand> demands) {
  parts_.push_back({.part = {.seconds = 1}});
  for (std::uint32_t stage = 0; stage < demands.size(); ++stage) {
    first_part_.push_back(static_cast<std::uint32_t>(parts_.size()));
    if (demands[stage].empty()) demands[stage].push_back({.seconds = 1});
    for (const TaskPart& part : demands[stage]) {
      parts_.push_back({.part = part, .stage = stage, .is_last = false});
    }
    parts_.back().is_last = true;
  }
  use_.resize(demands.size());
  hosts_.reserve(hosts.size());
  std::uint32_t kind = 0;
  for (const SharedHost& shape : hosts) {
    if (!hosts_.empty() && !(shape == hosts_.back().shape)) ++kind;
    hosts_.push_back({.shape = shape, .kind = kind, .groups = {}});
  }
  Clear();
}

void RunningTasks::Clear() {
  events_.clear();
  has_first_happened_ = false;
  changed_.clear();
  std::fill(use_.begin(), use_.end(), HostUse{});
  for (Host& host : hosts_) {
    host = {.shape = host.shape, .kind = host.kind, .groups = {}};
    // Keeps the group of tasks that use only processors.
    if (host.shape.nodes == 0) host.groups.push_back({.rate = {host.shape.Speed(0)}, .tasks = {}});
  }
}

// Ignores the first event if it has happened. The second event of a heap is one of two elements.
bool RunningTasks::IsNextBy(double until) const {
  const auto is_due = [&](std::size_t i) { return i < events_.size() && events_[i].at <= until; };
  return has_first_happened_ ? is_due(1) || is_due(2) : is_due(0);
}

void RunningTasks::Push(const Scheduled& event) {
  if (has_first_happened_) return ReplaceFirst(event);
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

void RunningTasks::ReplaceFirst(const Scheduled& event) {
  has_first_happened_ = false;
  std::size_t at = 0;
  for (std::size_t child = 1; child < events_.size(); child = 2 * at + 1) {
    if (child + 1 < events_.size() && events_[child] > events_[child + 1]) ++child;
    if (!(event > events_[child])) break;
    events_[at] = events_[child];
    at = child;
  }
  events_[at] = event;
}

void RunningTasks::Begin(const Begun& begun) {
  if (hosts_.empty()) {
    Push({.at = begun.at + begun.delay + begun.seconds, .number = begun.task, .kind = Kind::kEnd});
    return;
  }
  if (begun.task >= works_.size()) works_.resize(begun.task + 1);
  works_[begun.task] = {
      .host = begun.host, .stage = begun.stage, .seconds = begun.seconds, .wide = begun.wide};
  Push({.at = begun.at + begun.delay, .number = begun.task, .kind = Kind::kArrival});
}

void RunningTasks::WakeUp(std::uint32_t number, double at) {
  Push({.at = at, .number = number, .kind = Kind::kWakeUp});
}

void RunningTasks::Advance(Host& host, double at) {
  const double seconds = std::max(at - host.now, 0.0);
  host.now = at;
  for (Group& group : host.groups) {
    group.served += seconds * group.rate.per_second;
    if (host.shape.nodes == 0) continue;
    const Part& part = parts_[group.part];
    HostUse& use = use_[part.stage];
    use.seconds += seconds * group.wide;
    use.work += seconds * group.wide * group.rate.per_second * part.part.seconds;
    if (part.part.needs == Needs{}) continue;
    use.bound[static_cast<std::size_t>(group.rate.bottleneck)] += seconds * group.wide;
  }
}

void RunningTasks::Join(Host& host, std::uint32_t task, std::uint32_t part) {
  auto group = std::find_if(host.groups.begin(), host.groups.end(),
                            [part](const Group& known) { return known.part >= part; });
  if (group == host.groups.end() || group->part != part) {
    group = host.groups.insert(group, Group{.part = part, .rate = {}, .tasks = {}});
  }
  group->wide += works_[task].wide;
  group->tasks.push_back({group->served + works_[task].seconds, task});
  std::push_heap(group->tasks.begin(), group->tasks.end(), std::greater<>());
}

std::pair<std::uint32_t, std::uint32_t> RunningTasks::Leave(Host& host) {
  Group& group = host.groups[host.ends_first];
  std::pop_heap(group.tasks.begin(), group.tasks.end(), std::greater<>());
  const std::pair<std::uint32_t, std::uint32_t> left = {group.tasks.back().task, group.part};
  group.tasks.pop_back();
  group.wide -= works_[left.first].wide;
  if (group.tasks.empty() && host.shape.nodes > 0) {
    host.groups.erase(host.groups.begin() + static_cast<std::ptrdiff_t>(host.ends_first));
  }
  return left;
}

void RunningTasks::MarkChanged(std::uint32_t index) {
  Host& host = hosts_[index];
  host.predicted_end = kNone;
  changed_at_ = host.now;
  if (std::exchange(host.has_changed, true)) return;
  changed_.push_back(index);
}

void RunningTasks::PredictEnds() {
  for (const std::uint32_t host : changed_) PredictEnd(host);
  changed_.clear();
}

void RunningTasks::SetRates(Host& host) {
  if (host.shape.nodes == 0) {
    host.groups[0].rate.per_second = host.shape.Speed(host.groups[0].wide);
    return;
  }
  if (host.groups.empty()) return;
  std::vector<double> state = {static_cast<double>(host.kind)};
  for (const Group& group : host.groups) {
    state.push_back(group.part);
    state.push_back(group.wide);
  }
  auto known = known_rates_.find(state);
  if (known == known_rates_.end()) {
    std::vector<NodeSharer> sharers;
    for (const Group& group : host.groups) sharers.push_back({parts_[group.part].part, group.wide});
    if (known_rates_.size() >= kKnownRatesMax) known_rates_.clear();
    known =
        known_rates_
            .emplace(std::move(state), ShareNode(host.shape.processors, host.shape.nodes, sharers))
            .first;
  }
  for (std::size_t i = 0; i < host.groups.size(); ++i) host.groups[i].rate = known->second[i];
}

void RunningTasks::PredictEnd(std::uint32_t index) {
  Host& host = hosts_[index];
  host.has_changed = false;
  SetRates(host);
  for (std::size_t i = 0; i < host.groups.size(); ++i) {
    const Group& group = host.groups[i];
    if (group.tasks.empty()) continue;
    const double left = std::max(0.0, group.tasks.front().served - group.served);
    const double end = host.now + left / group.rate.per_second;
    if (host.predicted_end != kNone && end >= host.predicted_end) continue;
    host.predicted_end = end;
    host.ends_first = i;
  }
  if (host.predicted_end == kNone) return;
  Push({.at = host.predicted_end, .number = index, .kind = Kind::kPredictedEnd});
}

std::optional<RunningTasks::Event> RunningTasks::Next(double until) {
  while (true) {
    if (!changed_.empty() && !IsNextBy(changed_at_)) PredictEnds();
    if (!IsNextBy(until)) return std::nullopt;
    if (has_first_happened_) {
      std::pop_heap(events_.begin(), events_.end(), std::greater<>());
      events_.pop_back();
    }
    const Scheduled event = events_.front();
    has_first_happened_ = true;
    if (event.kind == Kind::kEnd || event.kind == Kind::kWakeUp) {
      return Event{event.at, event.number, event.kind == Kind::kEnd};
    }
    const bool arrives = event.kind == Kind::kArrival;
    const std::uint32_t index = arrives ? works_[event.number].host : event.number;
    Host& host = hosts_[index];
    if (!arrives && event.at != host.predicted_end) continue;
    Advance(host, event.at);
    if (arrives) {
      const bool has_parts = host.shape.nodes > 0;
      Join(host, event.number, has_parts ? first_part_[works_[event.number].stage] : 0);
      MarkChanged(index);
      continue;
    }
    const auto [task, part] = Leave(host);
    if (!parts_[part].is_last) Join(host, task, part + 1);
    MarkChanged(index);
    if (parts_[part].is_last) return Event{event.at, task, true};
  }
}

const std::vector<HostUse>& RunningTasks::UseUntil(double at) {
  for (Host& host : hosts_) Advance(host, std::max(at, host.now));
  return use_;
}

double MeanStretch(const TaskDemand& demand, const SharedHost& node, double tasks, double slots,
                   double variation) {
  if (demand.empty()) return 1;
  // Simulates a part of the node that has the same resources per used slot.
  slots = std::min(slots, std::max(tasks, 1.0));
  const double parts = std::max(slots / kStretchSlotsMax, 1.0);
  const double at_once = std::max(std::round(slots / parts), 1.0);
  const double all = std::clamp(std::round(tasks / parts), 1.0, at_once * kStretchWavesMax);
  RunningTasks running({{.processors = node.processors / parts, .nodes = node.nodes / parts}},
                       {demand});
  std::uint32_t begun = 0;
  double now = 0;
  const auto begin = [&] {
    // The times are evenly distributed with this deviation, in golden-ratio steps.
    const double u = std::fmod((begun + 1) * 0.6180339887498949, 1.0);
    const double seconds = 1 + variation * std::sqrt(3.0) * (2 * u - 1);
    running.Begin({.task = begun++, .at = now, .seconds = std::max(seconds, 0.0)});
  };
  while (begun < std::min(all, at_once)) begin();
  while (const auto event = running.Next(INFINITY)) {
    now = event->at;
    if (begun < all) begin();
  }
  const HostUse& use = running.UseUntil(now)[0];
  return use.work > 0 ? use.seconds / use.work : 1;
}

}  // namespace tidemark::placement
