// Converts a trace to the events that a master receives.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "bench/workflow/trace.h"
#include "tidemark/event.h"
#include "tidemark/past_run.h"

namespace tidemark::bench {

// Converts a time of a trace to the master's clock.
absl::Time At(double seconds);

// Yields the events of one run in order: the driver's reports, and heartbeats of all running tasks
// at every call. A stage that belongs to a group is reported when it became visible, and other
// stages together with the job. The number of bytes in a map task's split is reported before the
// task starts. The task's progress is reported at a steady pace. Not thread-safe.
class Replay {
 public:
  // `trace` must outlive this object.
  explicit Replay(const Trace& trace);

  using Take = absl::FunctionRef<void(const Event&)>;
  // Passes `take` the events after the last call and up to `seconds`, which never
  // decreases.
  void Until(double seconds, Take take);
  // Passes `take` the opening events, which precede the start of any task.
  void Opening(Take take);
  // Passes `take` the remaining events and the end of the job.
  void ToTheEnd(Take take);

 private:
  void Add(double at, EventBody body);
  void AddStages();
  void AddTask(const AttemptId& attempt);
  TaskHeartbeat Heartbeat(const AttemptId& attempt, double at) const;
  void BeatUntil(double at, Take take);
  void Send(double at, EventBody body, Take take);

  const Trace& trace_;
  std::vector<std::pair<double, EventBody>> bodies_;  // sorted by time
  std::size_t next_ = 0;
  std::size_t opening_ = 0;  // number of opening events
  std::map<std::pair<std::uint32_t, std::uint32_t>, AttemptId> running_;
  std::uint64_t sequence_ = 0;
  double sent_at_ = 0;  // time of the last event
};

// Returns the past run that a master stores.
PastRun RunOf(const Trace& trace);

}  // namespace tidemark::bench
