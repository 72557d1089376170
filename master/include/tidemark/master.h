// A progress service inside your process.
//
// Master takes the events of agents over gRPC, keeps a JobMonitor for each job, ticks them, and
// serves snapshots over gRPC and by callback. `tidemark serve` is this class and a signal handler.
//
//   auto master = tidemark::Master::Start({.listen_address = "127.0.0.1:0"});
//   if (!master.ok()) return master.status();
//   LaunchTasks((*master)->address());              // agents connect here
//   (*master)->WaitUntilFinal("job-1", absl::InfiniteDuration());
//   (*master)->Shutdown(absl::Seconds(5));
//
// Thread-safe. Threads: one for ticks, one for the journal, one for estimates that are asked for,
// five for new connections, gRPC's own for the rest.
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

// Files in PEM, read again when they change.
struct ServerTls {
  std::string certificate_file;  // the server's chain, its own certificate first; empty: no TLS
  std::string key_file;
  // Clients must show a certificate that one of these has signed. Empty: they need none.
  std::string client_ca_file;
};

struct MasterOptions {
  // host:port (port 0 takes a free one) or unix:PATH. Other than loopback and unix addresses need
  // TLS and either client certificates or tokens, unless allow_insecure_remote is set.
  std::string listen_address = "127.0.0.1:0";
  bool allow_insecure_remote = false;
  ServerTls tls;
  // Who may report and read which jobs (docs/serve.md), read again when it changes. Empty: whoever
  // can connect may do everything.
  std::string tokens_file;
  // A snapshot at least this often while a job runs ...
  absl::Duration tick_interval = absl::Seconds(1);
  // ... and, when there is new evidence, as often as this.
  absl::Duration tick_interval_min = absl::Milliseconds(200);
  // Where each job's event log goes, as JOB.tidemark-log; empty: nowhere.
  std::string event_log_dir;
  // Where everything is kept that a master needs to go on after it was killed: each job's event
  // log, durable before anything in it is acknowledged or shown. One master at a time. Empty: its
  // jobs are gone with the master.
  std::string data_dir;
  // How long an acknowledgement may wait for others to share one sync of the disk.
  absl::Duration journal_commit_interval = absl::Milliseconds(5);
  // Whether data_dir survives a loss of power, too, and not only the end of the process.
  bool journal_sync = true;
  // Jobs that ended longer ago, or the oldest when they take more room, leave the history in
  // data_dir.
  absl::Duration history_age_max = absl::Hours(24 * 90);
  std::size_t history_bytes_max = std::size_t{256} << 20;
  // Called with what an operator should know, a line at a time, from any thread; may be empty.
  std::function<void(const std::string&)> on_notice;
  // Larger messages end the stream with RESOURCE_EXHAUSTED.
  std::size_t message_bytes_max = std::size_t{4} << 20;
  // Jobs remembered at once; the oldest ended ones make room. More running ones are refused.
  std::size_t jobs_max = 1000;
  // The same of workflows, and how many jobs one of them may have.
  std::size_t workflows_max = 1000;
  std::size_t workflow_jobs_max = 1000;
  std::size_t watchers_max = 10'000;  // of jobs, and as many of workflows
  // Streams, of agents and of watchers, that one host may have open.
  std::size_t streams_per_peer_max = 4096;
  // Events taken of one job, all together; beyond it only the ends of attempts and of the job
  // are taken, and those up to a sixteenth more.
  std::size_t job_bytes_max = std::size_t{16} << 30;
  // Estimated memory of all jobs together. 0: half of the host's, or of the limit of the
  // process's cgroups if that is less.
  std::size_t state_bytes_max = 0;
  // What one may take of what all share, so that something is left for others: running jobs and
  // workflows, the disk under data_dir, state_bytes_max (docs/serve.md). One: who has the same
  // rights to report, by their tokens, or a host where there are no tokens. 100: all of it.
  unsigned share_percent = 80;
  // Calls that one token, or one host where there are none, may make; five seconds' worth at once.
  // A call counts once more for every millisecond that its answer takes. 0: any number. Streams of
  // agents do not count.
  std::size_t calls_per_second = 200;
  // What agents are told to do.
  absl::Duration agent_flush_interval = absl::Seconds(1);
  JobMonitorOptions job;
  // Of jobs and workflows without a deadline of their own; the first rule for a name counts. Times
  // of day are those of the process's time zone.
  std::vector<DeadlineRule> deadlines;
  // Told what happens; may be empty.
  LogSink log;
};

// OK, or what Master::Start() would refuse before it binds: InvalidArgument names the option or the
// file.
absl::Status Validate(const MasterOptions& options);

class Master {
 public:
  // Recovers, binds and serves. InvalidArgument: an option that cannot be used; Unavailable: the
  // address cannot be bound, or another master has the data directory; the message says which and
  // why.
  static absl::StatusOr<std::unique_ptr<Master>> Start(const MasterOptions& options);
  ~Master();  // Shutdown(0)
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  // Where it listens, with the port it got.
  const std::string& address() const;

  // To its services without a network, for a front of another kind in this process: its calls count
  // as those of one host, and need a token where all do. The channel must go before the master.
  std::shared_ptr<grpc::Channel> InProcessChannel() const;

  // Says from now on, to clients that ask who answers, that people can look at jobs there.
  void AnnouncePage(const std::string& url);

  // The newest snapshot of a job or plan, of sequence 0 before the first. NotFound: no such job.
  absl::StatusOr<Snapshot> GetJob(const std::string& job_id) const;
  // The newest snapshots of all jobs and plans, the newest first.
  std::vector<Snapshot> ListJobs() const;

  // Takes an event as if its source had sent it, for sources in this process. `arrived_at` is not
  // looked at. OK, or why it was refused.
  absl::Status Report(const Event& event);

  // Calls `on_snapshot` with every new snapshot of the job, which need not be open yet, in order,
  // from the tick thread: it must return quickly and must not shut the master down. Ends with the
  // final snapshot or when the returned handle is destroyed. No call is running after that, unless
  // it is destroyed within a call: then that call is the last. ResourceExhausted: watchers_max;
  // Unavailable: the master is shutting down.
  class Subscription;
  absl::StatusOr<std::unique_ptr<Subscription>> Watch(
      const std::string& job_id, std::function<void(const Snapshot&)> on_snapshot);

  // Waits for the final snapshot of the newest run. DeadlineExceeded: not within `timeout`.
  absl::StatusOr<Snapshot> WaitUntilFinal(const std::string& job_id, absl::Duration timeout) const;

  MasterStats stats() const;

  // Says NOT_SERVING to health checks from now on, so that balancers turn away; serves all the
  // same.
  void Drain();
  // Stops listening, lets calls finish for at most `grace`, then ends them. Idempotent.
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
