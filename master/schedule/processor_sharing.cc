#include "master/schedule/processor_sharing.h"

#include <algorithm>

namespace tidemark::schedule {

double SharedHost::Speed(std::size_t tasks) const {
  const double compete = others + static_cast<double>(tasks);
  return compete > processors ? processors / compete : 1;
}

ProcessorSharing::ProcessorSharing(std::vector<SharedHost> hosts) {
  hosts_.reserve(hosts.size());
  for (const SharedHost& shape : hosts) hosts_.push_back({.shape = shape, .tasks = {}});
}

void ProcessorSharing::Begin(std::size_t task, std::size_t host, double at, double seconds_alone) {
  events_.push(
      {.at = at, .host = host, .is_arrival = true, .task = task, .seconds_alone = seconds_alone});
}

void ProcessorSharing::Advance(Host& host, double at) {
  host.served += (at - host.now) * host.shape.Speed(host.tasks.size());
  host.now = at;
  ++host.changes;
}

void ProcessorSharing::ForeseeEnd(std::size_t index) {
  const Host& host = hosts_[index];
  if (host.tasks.empty()) return;
  const double left = std::max(0.0, host.tasks.top().served - host.served);
  events_.push({.at = host.now + left / host.shape.Speed(host.tasks.size()),
                .host = index,
                .changes = host.changes});
}

void ProcessorSharing::Run(const OnEnd& on_end) {
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    Host& host = hosts_[event.host];
    if (!event.is_arrival && event.changes != host.changes) continue;
    Advance(host, event.at);
    if (event.is_arrival) {
      host.tasks.push({host.served + event.seconds_alone, event.task});
    } else {
      const std::size_t task = host.tasks.top().task;
      host.tasks.pop();
      on_end(task, event.at, event.host);
    }
    ForeseeEnd(event.host);
  }
  for (Host& host : hosts_) host.now = host.served = 0;
}

}  // namespace tidemark::schedule
