// Turns what an application master's web service shows, look after look, into the events of a job:
// each attempt's states once, and how far it is. Pure.
//
// Nothing is known of bytes or key groups. A task counts as kTaskUnits units of work, of which the
// part is done that Hadoop's own progress says; for a reduce task, of its reduce function alone.
// Estimates from that are ratios of time and progress.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
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

  // Returns the new events of an attempt at `now`. O(log attempts)
  std::vector<EventBody> Observe(const RestAttempt& attempt, absl::Time now);
  // Returns the events that end a task, at most once: its success if no attempt reported that, its
  // failure for good, and the end of attempts that were running when they were last observed. Empty
  // while the task runs. O(log attempts)
  std::vector<EventBody> ObserveEnd(const RestTask& task);

  // Returns true if events have reported the end that `task` has.
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
  // Adds the attempt's states up to `state` that were not reported before.
  void Enter(const RestAttempt& attempt, AttemptState state, std::vector<EventBody>& events);

  std::uint32_t ExecutorAt(const std::string& host, std::vector<EventBody>& events);

  // Ends attempts of the task that are not known to have ended. Returns the last one of all.
  std::optional<AttemptId> EndAttempts(const RestTask& task, AttemptState state,
                                       std::vector<EventBody>& events);

  std::map<AttemptId, AttemptState, ByAttempt> told_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> given_up_;  // tasks, by stage and index
  std::map<std::string, std::uint32_t> executors_;              // reported ones, by host
};

}  // namespace tidemark::cli
