#include "tidemark/master.h"

#include <fmt/format.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "master/service/ingest_service.h"
#include "master/service/job_table.h"
#include "master/service/listen_address.h"
#include "master/service/progress_service.h"
#include "master/service/watch_hub.h"

namespace tidemark {
namespace {

using service::IngestService;
using service::JobTable;
using service::ProgressService;
using service::WatchHub;

// Longer waits would overflow the clocks of the standard library.
constexpr absl::Duration kWaitMax = absl::Hours(24 * 365);

absl::Status Check(const MasterOptions& options) {
  absl::Status status =
      service::CheckListenAddress(options.listen_address, options.allow_insecure_remote);
  if (status.ok()) status = Validate(options.job);
  if (!status.ok()) return status;
  if (options.tick_interval_min < absl::Milliseconds(10) ||
      options.tick_interval < options.tick_interval_min) {
    return absl::InvalidArgumentError(
        "tick_interval_min: must be at least 10 ms and at most tick_interval");
  }
  if (options.jobs_max == 0) return absl::InvalidArgumentError("jobs_max: must be at least 1");
  return absl::OkStatus();
}

service::JobTableOptions TableOptions(const MasterOptions& options) {
  return {.job = options.job,
          .jobs_max = options.jobs_max,
          .event_log_dir = options.event_log_dir,
          .tick_interval = options.tick_interval,
          .tick_interval_min = options.tick_interval_min};
}

// A callback as a watcher; after Stop() it is not called any more.
class CallbackWatcher final : public service::Watcher {
 public:
  explicit CallbackWatcher(std::function<void(const Snapshot&)> on_snapshot)
      : on_snapshot_(std::move(on_snapshot)) {}
  void Offer(const Snapshot& snapshot) override {
    const std::lock_guard lock(mutex_);
    if (on_snapshot_) on_snapshot_(snapshot);
  }
  void Close() override {}
  void Stop() {
    const std::lock_guard lock(mutex_);
    on_snapshot_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::function<void(const Snapshot&)> on_snapshot_;
};

class CallbackSubscription final : public Master::Subscription {
 public:
  CallbackSubscription(std::shared_ptr<WatchHub> hub, std::string job_id,
                       std::shared_ptr<CallbackWatcher> watcher)
      : hub_(std::move(hub)), job_id_(std::move(job_id)), watcher_(std::move(watcher)) {}
  ~CallbackSubscription() override {
    hub_->Unsubscribe(job_id_, watcher_.get());
    watcher_->Stop();
  }

 private:
  std::shared_ptr<WatchHub> hub_;
  std::string job_id_;
  std::shared_ptr<CallbackWatcher> watcher_;
};

}  // namespace

class Master::Impl {
 public:
  explicit Impl(const MasterOptions& options)
      : options_(options),
        jobs_(TableOptions(options)),
        hub_(std::make_shared<WatchHub>(options.watchers_max)),
        ingest_(jobs_,
                {.flush_interval = options.agent_flush_interval, .lambda = options.job.lambda}),
        progress_(jobs_, *hub_) {}
  ~Impl() { Shutdown(absl::ZeroDuration()); }

  absl::Status Start();
  void Shutdown(absl::Duration grace);

  std::unique_ptr<Subscription> Watch(const std::string& job_id,
                                      std::function<void(const Snapshot&)> on_snapshot) {
    auto watcher = std::make_shared<CallbackWatcher>(std::move(on_snapshot));
    // A refusal (too many watchers) leaves a subscription that stays silent.
    hub_->Subscribe(job_id, watcher).IgnoreError();
    return std::make_unique<CallbackSubscription>(hub_, job_id, std::move(watcher));
  }

  absl::StatusOr<Snapshot> WaitUntilFinal(const std::string& job_id, absl::Duration timeout);

  const JobTable& jobs() const { return jobs_; }
  const std::string& address() const { return address_; }

 private:
  void TickUntilStopped();

  const MasterOptions options_;
  JobTable jobs_;
  std::shared_ptr<WatchHub> hub_;
  IngestService ingest_;
  ProgressService progress_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;

  std::mutex mutex_;  // guards stopping_ and ticks_
  std::condition_variable changed_;
  bool stopping_ = false;
  std::uint64_t ticks_ = 0;
  std::thread ticker_;
};

absl::Status Master::Impl::Start() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(options_.listen_address, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<std::size_t>(options_.message_bytes_max, std::numeric_limits<int>::max())));
  builder.RegisterService(&ingest_);
  builder.RegisterService(&progress_);
  server_ = builder.BuildAndStart();
  const bool is_unix = options_.listen_address.starts_with("unix:");
  if (server_ == nullptr || (port == 0 && !is_unix)) {
    return absl::UnavailableError(fmt::format(
        "cannot listen on {}: is it in use or not this host's?", options_.listen_address));
  }
  address_ =
      is_unix ? options_.listen_address
              : fmt::format("{}:{}",
                            options_.listen_address.substr(0, options_.listen_address.rfind(':')),
                            port);
  for (const char* service : {"tidemark.v1.IngestService", "tidemark.v1.ProgressService"}) {
    server_->GetHealthCheckService()->SetServingStatus(service, true);
  }
  ticker_ = std::thread([this] { TickUntilStopped(); });
  return absl::OkStatus();
}

void Master::Impl::TickUntilStopped() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    for (const Snapshot& snapshot : jobs_.TickDue(absl::Now())) hub_->Publish(snapshot);
    lock.lock();
    ++ticks_;
    changed_.notify_all();
    changed_.wait_for(lock,
                      absl::ToChronoNanoseconds(std::min(options_.tick_interval_min, kWaitMax)),
                      [this] { return stopping_; });
  }
}

absl::StatusOr<Snapshot> Master::Impl::WaitUntilFinal(const std::string& job_id,
                                                      absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const std::uint64_t seen = ticks_;
    lock.unlock();
    const absl::StatusOr<Snapshot> newest = jobs_.Get(job_id);
    if (newest.ok() && newest->is_final()) return newest;
    lock.lock();
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(
          fmt::format("job {} did not end within {}", job_id, absl::FormatDuration(timeout)));
    }
    changed_.wait_for(lock, absl::ToChronoNanoseconds(std::min(left, absl::Hours(1))),
                      [&] { return stopping_ || ticks_ != seen; });
  }
  return absl::UnavailableError("the master is shutting down");
}

void Master::Impl::Shutdown(absl::Duration grace) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  changed_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  hub_->CloseAll();
  if (server_ == nullptr) return;
  server_->GetHealthCheckService()->Shutdown();
  server_->Shutdown(std::chrono::system_clock::now() +
                    absl::ToChronoMilliseconds(std::min(grace, kWaitMax)));
  server_->Wait();
}

Master::Master(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Master::~Master() = default;

absl::StatusOr<std::unique_ptr<Master>> Master::Start(const MasterOptions& options) {
  if (absl::Status status = Check(options); !status.ok()) return status;
  auto impl = std::make_unique<Impl>(options);
  if (absl::Status status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<Master>(new Master(std::move(impl)));
}

const std::string& Master::address() const { return impl_->address(); }
absl::StatusOr<Snapshot> Master::GetJob(const std::string& job_id) const {
  return impl_->jobs().Get(job_id);
}
std::vector<Snapshot> Master::ListJobs() const { return impl_->jobs().List(); }
std::unique_ptr<Master::Subscription> Master::Watch(
    const std::string& job_id, std::function<void(const Snapshot&)> on_snapshot) {
  return impl_->Watch(job_id, std::move(on_snapshot));
}
absl::StatusOr<Snapshot> Master::WaitUntilFinal(const std::string& job_id,
                                                absl::Duration timeout) const {
  return impl_->WaitUntilFinal(job_id, timeout);
}
void Master::Shutdown(absl::Duration grace) { impl_->Shutdown(grace); }

}  // namespace tidemark
