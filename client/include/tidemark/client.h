// Asks a master how far jobs are and when they end, and hands in plans.
//
//   auto master = tidemark::Client::Create({.address = "master:7411"});
//   if (!master.ok()) return master.status();
//   const auto final = (*master)->WatchJob("visits-17", {}, {.on_snapshot =
//       [](const tidemark::Snapshot& now) {
//         std::printf("%.0f %%\n", 100 * now.estimate.fraction_done);
//         return true;  // go on
//       }});
//
// Promises:
//   - every snapshot that is handed out keeps what tidemark/job.h promises of a single one,
//   whatever
//     the master sends; that sequence and fraction grow is up to the master;
//   - watching goes on through breaks of the network and restarts of the master, from where it
//     was: no snapshot comes twice, and the final one comes unless the job was forgotten meanwhile;
//   - no file of ClientSecurity is read before a call needs it, except for those of TLS, which
//     Create() reads; a token that is replaced is sent from the next call on.
//
// Errors are the master's own, with its message for people (docs/api.md). Besides, of every call:
//   Unavailable         the master cannot be reached, or shuts down
//   DeadlineExceeded    it has not answered within ClientOptions::answer_within
//   Unauthenticated,    it wants a token, or this one may not do that
//   PermissionDenied
//   InvalidArgument,    a file of ClientSecurity cannot be used, or a token would go to another
//   FailedPrecondition  host in the clear
//   Cancelled           `stop` was requested
//
// Thread-safe: any number of calls at once share one connection. Calls wait for their answer.
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
#include "tidemark/explanation.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"
#include "tidemark/job_tasks.h"
#include "tidemark/plan.h"

namespace tidemark {

struct ClientOptions {
  std::string address;  // host:port or unix:PATH
  ClientSecurity security;
  absl::Duration answer_within = absl::Seconds(10);  // a question that is not watching
};

struct WatchOptions {
  View view = View::kUnknown;   // kUnknown: all of one job, the least of many
  absl::Duration interval_min;  // at least so long between two snapshots, but for the final one
  // How long a master that has once answered may stay away, or break every stream within 2 s. The
  // last error is returned then.
  absl::Duration patience = absl::Minutes(1);
  // A master that says nothing for so long, or for twice interval_min or three times its longest
  // pause so far if that is more, is reported to on_trouble. It is waited for all the same.
  absl::Duration mute_after = absl::Seconds(10);
  // Of one job:
  std::string run_uid;      // only this run of it; empty: the newest
  bool is_to_come = false;  // wait, without limit, for a job, and for a master, not there yet
};

// What is told on the way, one call at a time, on the thread that watches or one of ours.
struct WatchCalls {
  // Each new snapshot. False: stop watching.
  std::function<bool(const Snapshot&)> on_snapshot;
  // What keeps snapshots from coming, and that they come again. May be empty.
  std::function<void(const std::string&)> on_trouble = {};
};

// The same of many jobs.
struct WatchListCalls {
  // All jobs, by id, whenever one has changed. False: stop watching.
  std::function<bool(const std::map<std::string, Snapshot>&)> on_jobs;
  std::function<void(const std::string&)> on_trouble = {};
};

struct ServerInfo {
  std::string version;   // of the program: "0.2.0"
  std::string instance;  // another one after every start
  std::vector<std::string> features;
};

class Client final {
 public:
  // Does not connect yet. InvalidArgument: a file for TLS cannot be used; the message names it.
  static absl::StatusOr<std::unique_ptr<Client>> Create(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::string& address() const;

  // The newest snapshot. NotFound: no such job.
  absl::StatusOr<Snapshot> GetJob(const std::string& job_id, View view = View::kFull,
                                  std::stop_token stop = {}) const;
  // The newest snapshots of all jobs that meet the filter, newest job first. O(jobs).
  absl::StatusOr<std::vector<Snapshot>> ListJobs(const JobFilter& filter = {},
                                                 View view = View::kBasic,
                                                 std::stop_token stop = {}) const;

  // The final snapshot, after calls for all that are new until then. NotFound: no such job.
  // Unavailable: the master cannot be reached, or has stayed away too long. Cancelled: stopped, or
  // on_snapshot returned false. Any other error has outlasted WatchOptions::patience.
  absl::StatusOr<Snapshot> WatchJob(const std::string& job_id, const WatchOptions& options,
                                    const WatchCalls& calls, std::stop_token stop = {}) const;
  // All jobs that meet the filter, until stopped; never OK.
  absl::Status WatchJobs(const JobFilter& filter, const WatchOptions& options,
                         const WatchListCalls& calls, std::stop_token stop = {}) const;

  // Submits a plan to be watched from now on. Durable when it returns; safe to repeat while the
  // workflow runs. AlreadyExists: another plan or job has its id, or the workflow has ended.
  absl::Status SubmitJob(const Plan& plan) const;
  // Says which job reports for a job of a plan. Durable; safe to repeat. NotFound;
  // FailedPrecondition: the plan has ended, or the job before it runs or has succeeded.
  absl::Status AttachJob(const std::string& job_id, const std::string& child_name,
                         const std::string& child_job_id) const;
  // Durable; safe to repeat. NotFound; InvalidArgument; FailedPrecondition: the plan has ended, or
  // a job to cancel has begun.
  absl::Status UpdateJob(const std::string& job_id, const PlanChange& change) const;
  // Removes a job that has ended. Durable; a job that is not known is OK. FailedPrecondition: it
  // runs.
  absl::Status ForgetJob(const std::string& job_id) const;

  // What would be of a job that runs, or of a plan that was not submitted, in each scenario, in
  // their order; without scenarios as things are. Changes nothing. NotFound; InvalidArgument.
  absl::StatusOr<std::vector<Outcome>> EstimateJob(const std::string& job_id,
                                                   const std::vector<Scenario>& scenarios) const;
  absl::StatusOr<std::vector<Outcome>> EstimatePlan(const Plan& plan,
                                                    const std::vector<Scenario>& scenarios) const;

  // The attempts at tasks that run now, at most `most`: the last to end first, then those of which
  // that is not known, by start. None of a job that has ended. NotFound;
  // FailedPrecondition: it is a workflow, or what an ended one did is not kept.
  absl::StatusOr<JobTasks> ListRunningTasks(const std::string& job_id, std::uint32_t most = 500,
                                            std::stop_token stop = {}) const;

  // What the queries of a job waited for, and because of which others, as the master has seen it.
  // NotFound: no such job; InvalidArgument.
  absl::StatusOr<Explanation> ExplainJob(const std::string& job_id,
                                         const ExplainQuestion& question = {},
                                         std::stop_token stop = {}) const;
  // The same whenever it has changed, until the job has ended: OK. One stream, which is not taken
  // up again when it breaks. Cancelled: stopped, or on_explanation returned false.
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
