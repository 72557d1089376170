// A monitor of one job with one source for all events.
#pragma once

#include "tests/facts/events.h"
#include "tests/monitor/estimates.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::test {

struct MonitoredJob {
  // Applies events of one instant, which must be accepted.
  template <typename... Bodies>
  MonitoredJob& Say(double seconds, Bodies... bodies) {
    for (const Event& event : {source.At(seconds, std::move(bodies))...}) {
      const absl::Status applied = monitor.Apply(event);
      EXPECT_TRUE(applied.ok()) << applied;
    }
    return *this;
  }
  void Fold(TimedEvents events) {
    for (auto& [seconds, body] : events) Say(seconds, std::move(body));
  }
  Snapshot Tick(double seconds) { return monitor.Tick(At(seconds)); }

  Source source;
  JobMonitor monitor{"job-1", {}};
};

}  // namespace tidemark::test
