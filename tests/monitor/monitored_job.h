// A monitor of one job with one source for all events.
#pragma once

#include "tests/facts/events.h"
#include "tests/monitor/estimates.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::test {

struct MonitoredJob {
  // Applies an event, which must be accepted.
  void Say(double seconds, EventBody body) {
    const absl::Status applied = monitor.Apply(source.At(seconds, std::move(body)));
    EXPECT_TRUE(applied.ok()) << applied;
  }
  void Fold(TimedEvents events) {
    for (auto& [seconds, body] : events) Say(seconds, std::move(body));
  }
  Snapshot Tick(double seconds) { return monitor.Tick(At(seconds)); }

  Source source;
  JobMonitor monitor{"job-1", {}};
};

}  // namespace tidemark::test
