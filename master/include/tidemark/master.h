// A progress service inside your process.
//
// Master receives the events of agents over gRPC, keeps and ticks a JobMonitor for each job, and
// serves snapshots over gRPC and by callback. `tidemark serve` is this class and a signal handler.
//
//   auto master = tidemark::Master::Start({.listen_address = "127.0.0.1:0"});
//   if (!master.ok()) return master.status();
//   LaunchTasks((*master)->address());              // agents connect here
//   (*master)->WaitUntilFinal("job-1", absl::InfiniteDuration());
//   (*master)->Shutdown(absl::Seconds(5));
//
// Thread-safe. docs/internals/runtime.md lists its threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/deadline.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"
#include "tidemark/log.h"
#include "tidemark/master_stats.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace tidemark {

// PEM files, read again when they change.
struct ServerTls {
  std::string
      certificate_file;  // the server's chain, with its own certificate first; empty disables TLS
  std::string key_file;
  // CA certificates. If set, clients must present a certificate that one of these CAs has signed.
  std::string client_ca_file;
};

struct MasterOptions {
  // host:port (port 0 selects a free port) or unix:PATH. Addresses other than loopback and unix
  // require TLS, and either client certificates or tokens, unless allow_insecure_remote is set.
  std::string listen_address = "127.0.0.1:0";
  bool allow_insecure_remote = false;
  ServerTls tls;
  // File of access rights (docs/serve.md), read again when it changes. If empty, every client has
  // all rights.
  std::string tokens_file;
  // Interval between snapshots of a running job if there is no new evidence.
  absl::Duration tick_interval = absl::Seconds(1);
  // Shortest interval between snapshots if there is new evidence.
  absl::Duration tick_interval_min = absl::Milliseconds(200);
  // Directory for the event log of each job, JOB.tidemark-log. If empty, no logs are written.
  std::string event_log_dir;
  // Directory of the state from which a restarted master continues. It contains each job's event
  // log; events are durable before they are acknowledged or published. Only one master may use the
  // directory at a time. If empty, jobs are lost with the master.
  std::string data_dir;
  // Maximum delay of an acknowledgement, so that several acknowledgements can share one sync of the
  // disk.
  absl::Duration journal_commit_interval = absl::Milliseconds(5);
  // True if data_dir must survive a power loss, and not only the end of the process.
  bool journal_sync = true;
  // The history in data_dir drops jobs that ended longer ago than history_age_max. While it exceeds
  // history_bytes_max, it also drops its oldest jobs.
  absl::Duration history_age_max = absl::Hours(24 * 90);
  std::size_t history_bytes_max = std::size_t{256} << 20;
  // Receives lines for an operator, on any thread. May be empty.
  std::function<void(const std::string&)> on_notice;
  // A larger message ends its stream with RESOURCE_EXHAUSTED.
  std::size_t message_bytes_max = std::size_t{4} << 20;
  // Maximum number of tracked jobs. New jobs replace the oldest ended jobs. If all jobs run, new
  // jobs are rejected.
  std::size_t jobs_max = 1000;
  // Maximum number of tracked workflows, with the rule of jobs_max, and maximum number of jobs in
  // one workflow.
  std::size_t workflows_max = 1000;
  std::size_t workflow_jobs_max = 1000;
  // maximum for single jobs, and separately for the list of all jobs
  std::size_t watchers_max = 10'000;
  // Maximum number of streams of agents and watchers that one host may have open.
  std::size_t streams_per_peer_max = 4096;
  // Limit on the total size of a job's events. Beyond it, the master accepts only the ends of
  // attempts and of the job, up to a sixteenth more.
  std::size_t job_bytes_max = std::size_t{16} << 30;
  // Limit on the estimated memory of all jobs together. 0 means half of the host's memory, or half
  // of the process's cgroup limit if that is smaller.
  std::size_t state_bytes_max = 0;
  // Largest percentage that one reporter may use of running jobs and workflows, of the disk under
  // data_dir, and of state_bytes_max (docs/serve.md). A reporter is the set of clients whose tokens
  // grant the same right to report. If there are no tokens, each host is a reporter. 100 means no
  // limit.
  unsigned share_percent = 80;
  // Limit on the calls per second of one token or, if there are no tokens, of one host. Bursts
  // worth five seconds are allowed. Each millisecond of work for an answer counts as another call.
  // 0 means no limit. Streams of agents do not count.
  std::size_t calls_per_second = 200;
  // Settings for agents.
  absl::Duration agent_flush_interval = absl::Seconds(1);
  JobMonitorOptions job;
  // Deadline rules for jobs and workflows that state no deadline. The first rule that
  // matches the name applies. Times of day are in the process's time zone.
  std::vector<DeadlineRule> deadlines;
  // Receives log entries. May be empty.
  LogSink log;
};

// Checks the options like Start(), but does not bind. Returns OK, or an InvalidArgument error that
// names the option or the file.
absl::Status Validate(const MasterOptions& options);

class Master {
 public:
  // Recovers, binds and serves. Fails with InvalidArgument for an invalid option. Fails with
  // Unavailable if the address cannot be bound or another master uses the data directory. The
  // message states the cause.
  static absl::StatusOr<std::unique_ptr<Master>> Start(const MasterOptions& options);
  ~Master();  // calls Shutdown(0)
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  // Returns the bound address, with the assigned port.
  const std::string& address() const;

  // Returns a channel to the services that uses no network, for another front end in this process.
  // Its calls count as calls of one host, and need a token if other calls do. The channel must be
  // destroyed before the master.
  std::shared_ptr<grpc::Channel> InProcessChannel() const;

  // Sets the URL of the page, which GetServerInfo reports to clients.
  void AnnouncePage(const std::string& url);

  // Returns the newest snapshot of a job or plan. Its sequence is 0 before the first tick. Fails
  // with NotFound for an unknown job.
  absl::StatusOr<Snapshot> GetJob(const std::string& job_id) const;
  // Returns the newest snapshot of each job and plan, ordered from the newest job to the oldest.
  std::vector<Snapshot> ListJobs() const;

  // Receives an event from a source in this process. Ignores `arrived_at`. Returns OK or the reason
  // of a rejection.
  absl::Status Report(const Event& event);

  // Calls `on_snapshot` with every new snapshot of the job, in order, on the tick thread. The job
  // need not be open yet. The callback must return quickly and must not shut the master down. The
  // calls end with the final snapshot or when the returned handle is destroyed, even if a call
  // destroys it. Fails with ResourceExhausted beyond watchers_max, or with Unavailable if the
  // master is shutting down.
  class Subscription;
  absl::StatusOr<std::unique_ptr<Subscription>> Watch(
      const std::string& job_id, std::function<void(const Snapshot&)> on_snapshot);

  // Blocks until the newest run has a final snapshot, and returns it. Fails with DeadlineExceeded
  // after `timeout`.
  absl::StatusOr<Snapshot> WaitUntilFinal(const std::string& job_id, absl::Duration timeout) const;

  MasterStats stats() const;

  // Reports NOT_SERVING to health checks so that load balancers drain this master. Requests are
  // still served.
  void Drain();
  // Stops listening, waits at most `grace` for calls to finish, then ends them. Idempotent.
  void Shutdown(absl::Duration grace);

 private:
  class Impl;
  explicit Master(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Keeps a Watch() alive.
class Master::Subscription {
 public:
  virtual ~Subscription() = default;
};

}  // namespace tidemark
