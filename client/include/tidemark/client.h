// A client of a master, which reads progress and forecasts of jobs and submits plans.
//
//   auto master = tidemark::Client::Create({.address = "master:7411"});
//   if (!master.ok()) return master.status();
//   const auto final = (*master)->WatchJob("visits-17", {}, {.on_snapshot =
//       [](const tidemark::Snapshot& now) {
//         std::printf("%.0f %%\n", 100 * now.estimate.fraction_done);
//         return true;  // continue
//       }});
//
// Guarantees:
//   - Each snapshot keeps the guarantees of tidemark/job.h for a single snapshot, even if
//     the master violates them. The master guarantees that sequence numbers and fractions grow.
//   - A watch continues through network failures and restarts of the master. No snapshot is
//     repeated, and the final snapshot arrives unless the master has dropped the job.
//   - Create() reads the TLS files of ClientSecurity. Other files are read when a call needs them,
//     so a replaced token takes effect at the next call.
//
// Errors come from the master and have a human-readable message (docs/api.md). Every call can also
// fail with
//   Unavailable         the master cannot be reached, or is shutting down
//   DeadlineExceeded    no response arrived within ClientOptions::answer_within
//   Unauthenticated,    the master requires a token, or the token does not allow the call
//   PermissionDenied
//   InvalidArgument,    a file of ClientSecurity is unusable, or a token would be sent to another
//   FailedPrecondition  host without encryption
//   Cancelled           `stop` was requested
//
// Thread-safe: concurrent calls share one connection. Calls block until their response.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/client_security.h"
#include "tidemark/contention.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"
#include "tidemark/job_tasks.h"
#include "tidemark/plan.h"

namespace tidemark {

struct ClientOptions {
  std::string address;  // host:port or unix:PATH
  ClientSecurity security;
  absl::Duration answer_within = absl::Seconds(10);  // timeout of calls other than watches
};

struct WatchOptions {
  // kUnknown selects the full view for one job, and the smallest view for many
  View view = View::kUnknown;
  // minimum time between two snapshots; the final snapshot does not wait
  absl::Duration interval_min;
  // How long the client retries after a master that has answered once becomes unreachable or breaks
  // every stream within 2 s. Afterwards, the call returns the last error.
  absl::Duration patience = absl::Minutes(1);
  // How long a master may be silent before the client calls on_trouble. The limit is at least twice
  // interval_min and three times the longest pause so far. The client continues to wait.
  absl::Duration mute_after = absl::Seconds(10);
  // Settings for one job.
  std::string run_uid;      // empty for the newest run
  bool is_to_come = false;  // wait without limit for a missing job or master
};

// Callbacks of a watch. They run one at a time, on the watching thread or on a thread of the
// client.
struct WatchCalls {
  // Receives each new snapshot. Returns false to stop watching.
  std::function<bool(const Snapshot&)> on_snapshot;
  // Receives a line when snapshots stop arriving and when they resume. May be empty.
  std::function<void(const std::string&)> on_trouble = {};
};

// Callbacks of a watch of many jobs.
struct WatchListCalls {
  // Receives all jobs, by ID, after each change. Returns false to stop watching.
  std::function<bool(const std::map<std::string, Snapshot>&)> on_jobs;
  std::function<void(const std::string&)> on_trouble = {};
};

struct ServerInfo {
  std::string version;   // program version, such as "0.2.0"
  std::string instance;  // changes at every start
  std::vector<std::string> features;
};

class Client final {
 public:
  // Does not connect yet. Fails with InvalidArgument if a TLS file is unusable; the message names
  // the file.
  static absl::StatusOr<std::unique_ptr<Client>> Create(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::string& address() const;

  // Returns the newest snapshot. Fails with NotFound if the job does not exist.
  absl::StatusOr<Snapshot> GetJob(const std::string& job_id, View view = View::kFull,
                                  std::stop_token stop = {}) const;
  // Returns the newest snapshots of all jobs that match the filter, newest job first. The timeout
  // applies to the whole list. O(jobs).
  absl::StatusOr<std::vector<Snapshot>> ListJobs(const JobFilter& filter = {},
                                                 View view = View::kBasic,
                                                 std::stop_token stop = {}) const;

  // Calls on_snapshot for each new snapshot and returns the final one. Fails with NotFound if the
  // job does not exist. Fails with Unavailable if the master cannot be reached or did not return in
  // time. Fails with Cancelled if stopped or if on_snapshot returned false. Returns other errors
  // only after they have outlasted WatchOptions::patience.
  absl::StatusOr<Snapshot> WatchJob(const std::string& job_id, const WatchOptions& options,
                                    const WatchCalls& calls, std::stop_token stop = {}) const;
  // Watches all jobs that match the filter until the caller stops the watch. Never returns OK.
  absl::Status WatchJobs(const JobFilter& filter, const WatchOptions& options,
                         const WatchListCalls& calls, std::stop_token stop = {}) const;

  // Submits a plan, which the master then tracks. The plan is durable when the call returns. Safe
  // to repeat while the workflow runs. Fails with AlreadyExists if another plan or job has the
  // plan's ID, or if the workflow has ended.
  absl::Status SubmitJob(const Plan& plan) const;
  // Sets the job that reports for a job of a plan. Durable; safe to repeat. Fails with NotFound.
  // Fails with FailedPrecondition if the plan has ended, or if the previous job runs or has
  // succeeded.
  absl::Status AttachJob(const std::string& job_id, const std::string& child_name,
                         const std::string& child_job_id) const;
  // Changes a plan. Durable; safe to repeat. Fails with NotFound or InvalidArgument. Fails with
  // FailedPrecondition if the plan has ended or if a job to cancel has started.
  absl::Status UpdateJob(const std::string& job_id, const PlanChange& change) const;
  // Sets or replaces the deadline of a running job or workflow. Durable; safe to repeat. Fails with
  // NotFound, or with FailedPrecondition if the job has ended.
  absl::Status SetDeadline(const std::string& job_id, absl::Time at) const;
  // Removes an ended job. Durable; returns OK for an unknown job. Fails with FailedPrecondition if
  // the job runs.
  absl::Status ForgetJob(const std::string& job_id) const;

  // Estimates a running job, or a plan that has not been submitted. Returns one outcome for each
  // scenario, in order; if `scenarios` is empty, returns the outcome without changes. Modifies no
  // job. Fails with NotFound or InvalidArgument.
  absl::StatusOr<std::vector<Outcome>> EstimateJob(const std::string& job_id,
                                                   const std::vector<Scenario>& scenarios) const;
  absl::StatusOr<std::vector<Outcome>> EstimatePlan(const Plan& plan,
                                                    const std::vector<Scenario>& scenarios) const;

  // Returns at most `most` running attempts, sorted by forecast end, latest first. Attempts without
  // a forecast follow, sorted by start time. The list is empty for an ended job. Fails with
  // NotFound, or with FailedPrecondition for a workflow or an ended job whose attempts are not
  // kept.
  absl::StatusOr<JobTasks> ListRunningTasks(const std::string& job_id, std::uint32_t most = 500,
                                            std::stop_token stop = {}) const;

  // Returns at most `most` attempts of a running or ended job, in descending order of their times.
  // Fails like ListRunningTasks().
  absl::StatusOr<JobTasks> ListLongestTasks(const std::string& job_id, std::uint32_t most = 500,
                                            std::stop_token stop = {}) const;

  // Returns the resources for which the queries of a job waited, and the jobs that caused the
  // waits. Covers only waits that the master has observed. Fails with NotFound or InvalidArgument.
  absl::StatusOr<Explanation> ExplainJob(const std::string& job_id,
                                         const ExplainQuestion& question = {},
                                         std::stop_token stop = {}) const;
  // Returns which queries delayed others, and on which resources and hosts. Covers only jobs that
  // the user may read. Fails with NotFound for an unknown job, or with InvalidArgument.
  absl::StatusOr<ClusterContention> ExplainCluster(const ContentionQuestion& question = {},
                                                   std::stop_token stop = {}) const;
  // Calls on_explanation after each change until the job has ended, and then returns OK. Does not
  // resume a broken stream. Fails with Cancelled if stopped or if on_explanation returned false.
  absl::Status WatchExplanation(const std::string& job_id, const ExplainQuestion& question,
                                absl::Duration interval_min,
                                const std::function<bool(const Explanation&)>& on_explanation,
                                std::stop_token stop = {}) const;

  absl::StatusOr<ServerInfo> GetServerInfo() const;

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
