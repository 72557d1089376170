#include "master/forecast/placement/running_tasks.h"

#include <algorithm>

namespace tidemark::placement {
namespace {

// Guards divisions: tasks always make progress, even if many compete.
constexpr double kSpeedMin = 1e-6;

}  // namespace

double SharedHost::Speed(std::size_t tasks) const {
  const double compete = others + static_cast<double>(tasks);
  return compete > processors ? std::max(processors / compete, kSpeedMin) : 1;
}

RunningTasks::RunningTasks(std::vector<SharedHost> hosts) {
  hosts_.reserve(hosts.size());
  for (const SharedHost& shape : hosts) hosts_.push_back({.shape = shape, .tasks = {}});
}

void RunningTasks::Clear() {
  events_.clear();
  has_first_happened_ = false;
  for (Host& host : hosts_) host = {.shape = host.shape, .tasks = {}};
}

// Considers the events that have not happened; the second event of a heap is one of two.
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

void RunningTasks::Begin(std::uint32_t task, std::uint32_t host, double at, double delay,
                         double seconds) {
  if (hosts_.empty()) {
    Push({.at = at + delay + seconds, .number = task, .kind = Kind::kEnd});
    return;
  }
  if (task >= arrivals_.size()) arrivals_.resize(task + 1);
  arrivals_[task] = {.host = host, .seconds = seconds};
  Push({.at = at + delay, .number = task, .kind = Kind::kArrival});
}

void RunningTasks::WakeUp(std::uint32_t number, double at) {
  Push({.at = at, .number = number, .kind = Kind::kWakeUp});
}

void RunningTasks::Advance(Host& host, double at) {
  host.served += std::max(at - host.now, 0.0) * host.shape.Speed(host.tasks.size());
  host.now = at;
}

void RunningTasks::PredictEnd(std::uint32_t index) {
  Host& host = hosts_[index];
  host.predicted_end = kNone;
  if (host.tasks.empty()) return;
  const double left = std::max(0.0, host.tasks.front().served - host.served);
  host.predicted_end = host.now + left / host.shape.Speed(host.tasks.size());
  Push({.at = host.predicted_end, .number = index, .kind = Kind::kPredictedEnd});
}

std::optional<RunningTasks::Event> RunningTasks::Next(double until) {
  while (IsNextBy(until)) {
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
    const std::uint32_t index = arrives ? arrivals_[event.number].host : event.number;
    Host& host = hosts_[index];
    if (!arrives && event.at != host.predicted_end) continue;
    Advance(host, event.at);
    if (arrives) {
      host.tasks.push_back({host.served + arrivals_[event.number].seconds, event.number});
      std::push_heap(host.tasks.begin(), host.tasks.end(), std::greater<>());
      PredictEnd(index);
      continue;
    }
    std::pop_heap(host.tasks.begin(), host.tasks.end(), std::greater<>());
    const std::uint32_t task = host.tasks.back().task;
    host.tasks.pop_back();
    PredictEnd(index);
    return Event{event.at, task, true};
  }
  return std::nullopt;
}

}  // namespace tidemark::placement
