// A trace as the events that a master would have got of it.
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

// An instant of a trace, by the master's clock.
absl::Time At(double seconds);

// Events of one run in the order in which they happened: what its driver tells, and signs of life
// while tasks run, of each at every look. A stage of a group is told of when it became visible,
// others with the job. Of a map task the bytes of its split are told before it starts, and while it
// runs how many it has read: as if it read at a steady pace. Not thread-safe.
class Replay {
 public:
  // REQUIRES: `trace` lives as long.
  explicit Replay(const Trace& trace);

  using Take = absl::FunctionRef<void(const Event&)>;
  // All that happened after the last call and until `seconds` after the beginning, which never
  // decreases.
  void Until(double seconds, Take take);
  // What the job opens with, before any task has started.
  void Opening(Take take);
  // All that is left, and the end of the job.
  void ToTheEnd(Take take);

 private:
  void Add(double at, EventBody body);
  void AddStages();
  void AddTask(const AttemptId& attempt);
  TaskHeartbeat Heartbeat(const AttemptId& attempt, double at) const;
  void BeatUntil(double at, Take take);
  void Send(double at, EventBody body, Take take);

  const Trace& trace_;
  std::vector<std::pair<double, EventBody>> bodies_;  // by time
  std::size_t next_ = 0;
  std::size_t opening_ = 0;  // so many open the job
  std::map<std::pair<std::uint32_t, std::uint32_t>, AttemptId> running_;
  std::uint64_t sequence_ = 0;
  double sent_at_ = 0;  // the last event
};

// What a master keeps of the run for the next one.
PastRun RunOf(const Trace& trace);

}  // namespace tidemark::bench
