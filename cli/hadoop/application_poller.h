// Follows a MapReduce application of YARN without any part of Tidemark in it, by what the web
// services of Hadoop show of its tasks. No key groups are known that way, so what remains is
// estimated from ratios of time and progress, and the snapshots say so.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/hadoop/rest_view.h"
#include "cli/hadoop/task_facts.h"
#include "tidemark/job_monitor.h"

namespace tidemark::cli {

// Not thread-safe.
class ApplicationPoller {
 public:
  // Returns the answer to GET of a URL. NotFound: the server has no such page. WebClient::Get().
  using Get = std::function<absl::StatusOr<std::string>(const std::string& url)>;

  // `resource_manager` is the URL of its web service, such as "http://rm:8088". `application` is
  // the id of an application, or of its job. With `compare` the linear indicators are computed,
  // too.
  ApplicationPoller(std::string resource_manager, const std::string& application, Get get,
                    bool compare = false);

  // Looks at the application: O(tasks), and one question for each running task, for at most
  // kQuestionsMax of them at a time. `now` must not be before the last call's. NotFound: the
  // resource manager does not know it. FailedPrecondition: the application does not run MapReduce;
  // the message names its type and the command for it. Unavailable: the resource manager does not
  // answer, or not as expected; looking again may help.
  absl::StatusOr<Snapshot> Look(absl::Time now);

  // Returns why the last Look() showed no job, such as "application_1_0001 waits to start: YARN
  // reports ACCEPTED"; empty once there is one.
  const std::string& why_no_job() const { return why_no_job_; }

  static constexpr std::size_t kQuestionsMax = 200;

 private:
  absl::Status LookAtMaster(absl::Time now);
  absl::Status LookAtResourceManager(absl::Time now);
  absl::Status TakeEnd(const RestApplication& application, absl::Time now);
  absl::Status LookAtTasks(const std::string& url, const std::vector<RestTask>& tasks,
                           absl::Time now);
  absl::Status LookAtAttempts(const std::string& url, absl::Time now);
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
  std::size_t next_task_ = 0;  // where the next round of questions begins
  std::string why_no_job_;
  bool is_length_unknown_ = false;  // the application has ended, and YARN reports no times
};

}  // namespace tidemark::cli
