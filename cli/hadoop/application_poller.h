// Follows a YARN MapReduce application without the connector, through the web services of Hadoop,
// which report no key groups. The remaining time is estimated from ratios of time and progress,
// which a note in each snapshot states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/hadoop/rest_view.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"

namespace tidemark::cli {

inline constexpr std::uint64_t kTaskUnits = 1'000'000;

// Converts successive answers of an application master to the events of a job: each state of an
// attempt once, and its progress. Pure.
//
// The web service reports no bytes and no key groups. A task has kTaskUnits units of work. The
// finished part is Hadoop's own progress or, for a reduce task, the progress of its reduce
// function.
class TaskFacts {
 public:
  // Returns the events that open the job and announce its tasks.
  static std::vector<EventBody> Opening(const RestJob& job);

  // Returns the new events of an attempt at `now`. O(log attempts).
  std::vector<EventBody> Observe(const RestAttempt& attempt, absl::Time now);
  // Returns the events that end a task, at most once: its success if no attempt reported it, its
  // final failure, and the ends of attempts that were last observed running. Returns no events
  // while the task runs. O(log attempts).
  std::vector<EventBody> ObserveEnd(const RestTask& task);

  // Returns true if events have already reported the end of `task`.
  bool HasEnded(const RestTask& task) const;

  // Returns the event that closes the job.
  static JobClosed Closing(JobOutcome outcome, const std::string& diagnostics,
                           std::optional<absl::Time> at);

 private:
  struct ByAttempt {
    bool operator()(const AttemptId& a, const AttemptId& b) const {
      return std::tie(a.stage, a.index, a.attempt) < std::tie(b.stage, b.index, b.attempt);
    }
  };
  // Adds the attempt's states up to `state` that have not been reported.
  void Enter(const RestAttempt& attempt, AttemptState state, std::vector<EventBody>& events);

  std::uint32_t ExecutorAt(const std::string& host, std::vector<EventBody>& events);

  // Ends the attempts of the task that have no reported end. Returns the last attempt of the task.
  std::optional<AttemptId> EndAttempts(const RestTask& task, AttemptState state,
                                       std::vector<EventBody>& events);

  std::map<AttemptId, AttemptState, ByAttempt> reported_;
  std::set<std::pair<std::uint32_t, std::uint32_t>>
      given_up_;                                    // failed or killed tasks: (stage, index)
  std::map<std::string, std::uint32_t> executors_;  // by host
};

// Not thread-safe.
class ApplicationPoller {
 public:
  // Returns the response to a GET of a URL. Fails with NotFound if the server has no such page. See
  // WebClient::Get().
  using Get = std::function<absl::StatusOr<std::string>(const std::string& url)>;

  // `resource_manager` is the URL of its web service, such as "http://rm:8088". `application` is
  // the id of an application, or of its job. `compare` adds the linear indicators.
  ApplicationPoller(std::string resource_manager, const std::string& application, Get get,
                    bool compare = false);

  // Polls the application in O(tasks), plus one query per running task, at most kQueriesMax. `now`
  // must not decrease. Fails with NotFound if the resource manager has no such application. Fails
  // with FailedPrecondition if the application does not run MapReduce; the message names its type
  // and a command. Fails with Unavailable if the resource manager sends no valid response; a later
  // call may succeed.
  absl::StatusOr<Snapshot> Poll(absl::Time now);

  // Returns why the last Poll() found no job, such as "application_1_0001 waits to start: YARN
  // reports ACCEPTED", or "" if there is a job.
  const std::string& why_no_job() const { return why_no_job_; }

  static constexpr std::size_t kQueriesMax = 200;

 private:
  absl::Status PollMaster(absl::Time now);
  absl::Status PollResourceManager(absl::Time now);
  absl::Status ApplyEnd(const RestApplication& application, absl::Time now);
  // Returns the diagnostics of the application, or "" if the resource manager does not answer.
  std::string ApplicationDiagnostics() const;
  absl::Status PollTasks(const std::string& url, const std::vector<RestTask>& tasks,
                         absl::Time now);
  absl::Status PollAttempts(const std::string& url, absl::Time now);
  void Open(const RestJob& job, absl::Time now);
  void Close(const JobClosed& closed, absl::Time now);
  void Apply(const std::vector<EventBody>& bodies, absl::Time now);

  const std::string resource_manager_;
  const std::string application_id_;
  const std::string job_id_;
  const Get get_;
  JobMonitor monitor_;
  TaskFacts facts_;
  std::uint64_t sequence_ = 0;
  std::size_t next_task_ = 0;  // first task of the next round of queries
  std::string why_no_job_;
  // whether the application has ended without times reported by YARN
  bool is_length_unknown_ = false;
};

}  // namespace tidemark::cli
