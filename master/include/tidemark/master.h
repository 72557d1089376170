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
// Thread-safe. Threads: one for ticks, gRPC's own for the rest.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/job_monitor.h"
#include "tidemark/snapshot.h"

namespace tidemark {

struct MasterOptions {
  // host:port (port 0 takes a free one) or unix:PATH. Without TLS only loopback and unix addresses
  // are allowed, unless allow_insecure_remote is set.
  std::string listen_address = "127.0.0.1:0";
  bool allow_insecure_remote = false;
  // A snapshot at least this often while a job runs ...
  absl::Duration tick_interval = absl::Seconds(1);
  // ... and, when there is new evidence, as often as this.
  absl::Duration tick_interval_min = absl::Milliseconds(200);
  // Where each job's event log goes, as JOB.tidemark-log; empty: nowhere.
  std::string event_log_dir;
  // Larger messages end the stream with RESOURCE_EXHAUSTED.
  std::size_t message_bytes_max = std::size_t{4} << 20;
  // Jobs remembered at once; the oldest ended ones make room. More running ones are refused.
  std::size_t jobs_max = 1000;
  std::size_t watchers_max = 10'000;
  // What agents are told to do.
  absl::Duration agent_flush_interval = absl::Seconds(1);
  JobMonitorOptions job;
};

class Master {
 public:
  // Binds and serves. InvalidArgument: an option that cannot be used; Unavailable: the address
  // cannot be bound; the message says which and why.
  static absl::StatusOr<std::unique_ptr<Master>> Start(const MasterOptions& options);
  ~Master();  // Shutdown(0)
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  // Where it listens, with the port it got.
  const std::string& address() const;

  // The newest snapshot. NotFound: no such job.
  absl::StatusOr<Snapshot> GetJob(const std::string& job_id) const;
  // The newest snapshots of all jobs, newest job first.
  std::vector<Snapshot> ListJobs() const;

  // Calls `on_snapshot` with every new snapshot of the job, which need not be open yet, in order,
  // from the tick thread: it must return quickly. Ends with the final snapshot or when the returned
  // handle is destroyed; no call is running after that.
  class Subscription;
  std::unique_ptr<Subscription> Watch(const std::string& job_id,
                                      std::function<void(const Snapshot&)> on_snapshot);

  // Waits for the final snapshot. DeadlineExceeded: not within `timeout`.
  absl::StatusOr<Snapshot> WaitUntilFinal(const std::string& job_id, absl::Duration timeout) const;

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
