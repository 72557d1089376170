// Turns what an application master's web service shows, look after look, into the events of a job:
// each attempt's states once, and how far it is. Pure.
//
// Nothing is known of bytes or key groups. A task counts as kTaskUnits units of work, of which the
// part is done that Hadoop's own progress says; for a reduce task, of its reduce function alone.
// Estimates from that are ratios of time and progress.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "cli/hadoop/rest_view.h"
#include "tidemark/event.h"

namespace tidemark::cli {

inline constexpr std::uint64_t kTaskUnits = 1'000'000;

class TaskFacts {
 public:
  // The events that open the job and announce its tasks.
  static std::vector<EventBody> Opening(const RestJob& job);

  // What is new about an attempt at `now`. O(log attempts)
  std::vector<EventBody> Observe(const RestAttempt& attempt, absl::Time now);
  // The same for a task that succeeded when its attempt is no longer known. At most once for each.
  std::vector<EventBody> ObserveEnd(const RestTask& task);

  // Whether an event has reported that this task succeeded.
  bool HasEnded(const RestTask& task) const;

  // The event that closes the job.
  static JobClosed Closing(JobOutcome outcome, const std::string& diagnostics,
                           std::optional<absl::Time> at);

 private:
  struct ByAttempt {
    bool operator()(const AttemptId& a, const AttemptId& b) const {
      return std::tie(a.stage, a.index, a.attempt) < std::tie(b.stage, b.index, b.attempt);
    }
  };
  // Adds the attempt's states up to `state` that were not told before.
  void Enter(const RestAttempt& attempt, AttemptState state, std::vector<EventBody>& events);

  std::uint32_t ExecutorAt(const std::string& host, std::vector<EventBody>& events);

  std::map<AttemptId, AttemptState, ByAttempt> told_;
  std::map<std::string, std::uint32_t> executors_;  // that were told, by host
};

}  // namespace tidemark::cli
