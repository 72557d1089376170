#include "tidemark/master.h"

#include <fmt/format.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "master/service/acceptor.h"
#include "master/service/clock.h"
#include "master/service/connection_table.h"
#include "master/service/explain_service.h"
#include "master/service/gate.h"
#include "master/service/ingest_service.h"
#include "master/service/job_hub.h"
#include "master/service/job_service.h"
#include "master/service/job_table.h"
#include "master/service/live_waits.h"
#include "master/service/log.h"
#include "master/service/metrics.h"
#include "master/service/shares.h"
#include "master/service/workflow_table.h"
#include "master/store/disk.h"
#include "master/store/job_history.h"
#include "master/waits/cluster_contention.h"
#include "text/duration_text.h"
#include "tidemark/contention.h"
#include "transport/listen_address.h"

namespace tidemark {
namespace {

using service::IngestService;
using service::JobHub;
using service::JobTable;
using service::PublishedJob;

constexpr absl::Duration kTokensCheckedEvery = absl::Seconds(1);
// The contention metrics cover kContentionTime and are updated every kContentionEvery. Chosen by
// hand. Alerts need minutes, and the sums of a full master take tenths of a second.
constexpr absl::Duration kContentionTime = absl::Minutes(5);
constexpr absl::Duration kContentionEvery = absl::Seconds(30);

constexpr const char* kIngestServiceName = "tidemark.v1.IngestService";
constexpr const char* kServices[] = {kIngestServiceName, "tidemark.v1.JobService",
                                     "tidemark.v1.ExplainService"};

const char* NameOf(JobState state) {
  switch (state) {
    case JobState::kUnknown:
      break;
    case JobState::kQueued:
      return "queued";
    case JobState::kRunning:
      return "running";
    case JobState::kSucceeded:
      return "succeeded";
    case JobState::kFailed:
      return "failed";
    case JobState::kKilled:
      return "killed";
    case JobState::kAbandoned:
      return "abandoned";
    case JobState::kUnknownEnd:
      return "ended, outcome not reported";
  }
  return "unknown";
}

// Keepalive pings close the streams of hosts that lost power, which would otherwise never end.
// Chosen by hand. Two pings a minute cost little, and no healthy network is silent for a minute.
constexpr int kKeepaliveIntervalMillis = 30'000;
constexpr int kKeepaliveTimeoutMillis = 30'000;
// Shortest accepted interval between a client's pings. Clients ping every 30 s
// (cli/master_client.cc).
constexpr int kPingIntervalMinMillis = 5'000;

void EnableKeepalive(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveIntervalMillis);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMillis);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kPingIntervalMinMillis);
}

// Returns true if clients must show a token or a certificate. A unix socket is instead protected by
// the permissions of its file.
bool HasUnauthenticated(const MasterOptions& options) {
  return !options.listen_address.starts_with("unix:") &&
         !(options.tokens_file.empty() && options.tls.client_ca_file.empty());
}

service::ConnectionLimits ConnectionsOf(const MasterOptions& options) {
  // Descriptors for libraries, listeners and the journal's syncs, in addition to the logs of jobs.
  constexpr std::size_t kOther = 64;
  constexpr std::size_t kMany = std::size_t{1} << 20;
  rlimit limit{};
  const bool is_known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
  return service::LimitsFor(is_known ? std::min<std::size_t>(limit.rlim_cur, kMany) : kMany,
                            options.jobs_max + options.workflows_max + kOther,
                            options.message_bytes_max, HasUnauthenticated(options));
}

// gRPC processes all data of one read, even if the connection is closed meanwhile. This many bytes
// can start a hundred calls; the default is 4 MiB.
constexpr int kReadAtOnceBytes = 2 << 10;

void LimitUnauthenticated(const MasterOptions& options, grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(
      GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
      static_cast<int>(absl::ToInt64Milliseconds(service::ConnectionLimits().time_max)));
  if (!HasUnauthenticated(options)) return;
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kReadAtOnceBytes);
}

// Returns a random name, which differs after every start.
std::string InstanceName() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

// Returns the limits by the names used in rejections.
std::map<std::string, std::uint64_t> LimitsOf(const MasterOptions& options) {
  return {{"jobs", options.jobs_max},
          {"workflows", options.workflows_max},
          {"jobs_per_workflow", options.workflow_jobs_max},
          {"watchers", options.watchers_max},
          {"estimates", service::kEstimateLimits.of_key_max},
          {"retries_per_job", dag::LiveWorkflowOptions().retries_max},
          {"stages_per_job", options.job.limits.stages_max},
          {"streams_per_peer", options.streams_per_peer_max},
          {"bytes_per_job", options.job_bytes_max},
          {"share_percent", options.share_percent},
          {"calls_per_second", options.calls_per_second},
          {"map_tasks", options.job.limits.map_tasks_max},
          {"reduce_tasks", options.job.limits.reduce_tasks_max}};
}

// Longer waits would overflow the standard library's clocks.
constexpr absl::Duration kWaitMax = absl::Hours(24 * 365);

service::TickPace PaceOf(const MasterOptions& options) {
  return {.interval = options.tick_interval, .interval_min = options.tick_interval_min};
}

service::ShareOptions SharesOf(const MasterOptions& options) {
  return {.percent = options.share_percent,
          .workflows_max = options.workflows_max,
          .state_bytes_max = options.state_bytes_max == 0 ? service::HalfOfTheMemoryBytes()
                                                          : options.state_bytes_max};
}

// Returns an empty function if there are no rules.
std::function<std::optional<absl::Time>(const std::string& name, absl::Time now)> DeadlinesOf(
    const MasterOptions& options) {
  if (options.deadlines.empty()) return nullptr;
  return [rules = options.deadlines](const std::string& name, absl::Time now) {
    return DeadlineOf(rules, name, now, absl::LocalTimeZone());
  };
}

service::JobTableOptions TableOptions(
    const MasterOptions& options, JobHub& hub,
    std::function<void(const store::FinishedJob&)> on_end,
    std::function<void(const Event&)> on_event,
    std::function<bool(const std::string&, const std::function<void()>&)> has_room,
    std::function<void(const std::string&, const std::string&, absl::Time)> on_resume,
    std::function<std::vector<PastRun>(const std::string&, const store::Reported&)> past_runs) {
  return {.job = options.job,
          .jobs_max = options.jobs_max,
          .job_bytes_max = options.job_bytes_max,
          .shares = SharesOf(options),
          .event_log_dir = options.event_log_dir,
          .data_dir = options.data_dir,
          .journal = {.commit_interval = options.journal_commit_interval,
                      .on_notice = options.on_notice},
          .disk = store::MakeFileDisk(options.journal_sync),
          .on_end = std::move(on_end),
          .on_event = std::move(on_event),
          .has_room = std::move(has_room),
          .on_resume = std::move(on_resume),
          .past_runs = std::move(past_runs),
          .deadline_of = DeadlinesOf(options),
          .hub = &hub,
          .pace = PaceOf(options),
          .has_heavy_thread = true};
}

service::WorkflowTableOptions WorkflowOptions(
    const MasterOptions& options,
    std::function<std::vector<JobProfile>(const std::string&, const store::Reported&)> runs,
    std::function<std::vector<PastRun>(const std::string&, const store::Reported&)> stage_runs,
    std::function<std::optional<ResourceProfile>()> node,
    std::function<void(const store::FinishedJob&)> on_end,
    std::function<void(const std::string&, const absl::Status&)> on_refused) {
  return {.live = {.abandon_after = options.job.abandon_after},
          .jobs_per_workflow_max = options.workflow_jobs_max,
          .workflows_max = options.workflows_max,
          .deadline_of = DeadlinesOf(options),
          .runs = std::move(runs),
          .stage_runs = std::move(stage_runs),
          .node = std::move(node),
          .on_end = std::move(on_end),
          .on_refused = std::move(on_refused)};
}

// Adapts a callback to a watcher. The callback is not called after the final snapshot or after
// Stop(). It runs outside the lock, so that it may end its own subscription.
class CallbackWatcher final : public service::JobWatcher {
 public:
  CallbackWatcher(const JobHub& hub, std::function<void(const Snapshot&)> on_snapshot)
      : hub_(hub), on_snapshot_(std::move(on_snapshot)) {}
  void Offer(const PublishedJob& job) override {
    {
      const std::lock_guard lock(mutex_);
      if (stopped_ || (run_ && *run_ != job.run) || (!run_ && !hub_.IsCurrent(job))) return;
      run_ = job.run;
      caller_ = std::this_thread::get_id();
    }
    on_snapshot_(*job.newest);
    const std::lock_guard lock(mutex_);
    caller_ = {};
    if (job.newest->is_final) stopped_ = true;  // Later snapshots belong to another run.
    returned_.notify_all();
  }
  void Close() override {}
  // Blocks until a running call has returned, unless the call itself stops the watcher.
  void Stop() {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    if (caller_ == std::this_thread::get_id()) return;
    returned_.wait(lock, [this] { return caller_ == std::thread::id(); });
  }

 private:
  const JobHub& hub_;
  const std::function<void(const Snapshot&)> on_snapshot_;
  std::mutex mutex_;                  // Guards the members below.
  std::optional<std::uint64_t> run_;  // the run of the first call
  std::condition_variable returned_;
  bool stopped_ = false;
  std::thread::id caller_;  // thread of the running call
};

class CallbackSubscription final : public Master::Subscription {
 public:
  CallbackSubscription(std::shared_ptr<JobHub> hub, std::string job_id,
                       std::shared_ptr<CallbackWatcher> watcher)
      : hub_(std::move(hub)), job_id_(std::move(job_id)), watcher_(std::move(watcher)) {}
  ~CallbackSubscription() override {
    hub_->Unsubscribe(job_id_, watcher_.get());
    watcher_->Stop();
  }

 private:
  std::shared_ptr<JobHub> hub_;
  std::string job_id_;
  std::shared_ptr<CallbackWatcher> watcher_;
};

// Answers calls of unknown methods, which clients of another version may use. The message names the
// method, whereas gRPC's own answer has no message. Thread-safe.
class UnknownCalls final : public grpc::CallbackGenericService {
 public:
  explicit UnknownCalls(std::string version) : version_(std::move(version)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Refusal(fmt::format(
        "this master runs Tidemark {}, which has no method {}; use a client of the same version",
        version_, context->method()));
  }

 private:
  class Refusal final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Refusal(const std::string& why) {
      Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, why));
    }
    void OnDone() override { delete this; }
  };

  const std::string version_;
};

}  // namespace

class Master::Impl {
 public:
  Impl(const MasterOptions& options, std::unique_ptr<service::Tokens> tokens)
      : options_(options),
        history_([this](const std::string& line) { Notice(line); }),
        log_(options.log),
        tokens_(std::move(tokens)),
        acceptor_(ConnectionsOf(options), options.tokens_file.empty(), metrics_, log_),
        gate_(*tokens_, acceptor_, options.streams_per_peer_max, metrics_, log_,
              static_cast<double>(options.calls_per_second)),
        hub_(std::make_shared<JobHub>(InstanceName(), options.watchers_max)),
        jobs_(TableOptions(
                  options, *hub_, [this](const auto& job) { history_.Add(job); },
                  [this](const Event& event) { waits_.Observe(event); },
                  [this](const std::string& job_id, const std::function<void()>& when_room) {
                    return waits_.HasRoomFor(job_id, when_room);
                  },
                  [this](const std::string& job_id, const std::string& run_uid, absl::Time now) {
                    waits_.Resume(job_id, run_uid, now);
                  },
                  [this](const std::string& name, const store::Reported& job) {
                    std::vector<PastRun> runs = history_.PastRuns(name, job);
                    waits_.SetPastRuns(job.id, runs);
                    return runs;
                  }),
              &metrics_),
        ingest_(jobs_, clock_, gate_, metrics_,
                {.flush_interval = options.agent_flush_interval, .lambda = options.job.lambda}),
        workflows_(WorkflowOptions(
                       options,
                       [this](const std::string& name, const store::Reported& job) {
                         return history_.Profiles(name, job);
                       },
                       [this](const std::string& name, const store::Reported& job) {
                         return history_.StageRuns(name, job);
                       },
                       [this] { return history_.Node(); },
                       [this](const auto& workflow) { history_.Add(workflow); },
                       [this](const std::string& job_id, const absl::Status& reason) {
                         log_.WarnRarely("cannot add the job to its workflow", clock_.Now(), job_id,
                                         {{"reason", std::string(reason.message())}});
                       }),
                   jobs_, &metrics_),
        explain_service_({*hub_, deliveries_, clock_, gate_, metrics_}, waits_, jobs_),
        job_service_({*hub_, deliveries_, clock_, gate_, metrics_}, jobs_, workflows_,
                     {.version = TIDEMARK_VERSION,
                      .instance = hub_->instance(),
                      .limits = LimitsOf(options)}) {}
  ~Impl() { Shutdown(absl::ZeroDuration()); }

  absl::Status Start();
  MasterStats stats() const;
  void Drain() {
    draining_ = true;
    SetServing(false);
  }
  void Shutdown(absl::Duration grace);

  absl::Status Report(const Event& event) {
    return jobs_.IngestLocal(event, clock_.Now(), {.reporter = "this process"}).status;
  }

  absl::StatusOr<std::unique_ptr<Subscription>> Watch(
      const std::string& job_id, std::function<void(const Snapshot&)> on_snapshot) {
    auto watcher = std::make_shared<CallbackWatcher>(*hub_, std::move(on_snapshot));
    if (absl::Status taken = hub_->Subscribe(job_id, watcher, /*wants_round_end=*/false);
        !taken.ok())
      return taken;
    return std::make_unique<CallbackSubscription>(hub_, job_id, std::move(watcher));
  }

  absl::StatusOr<Snapshot> WaitUntilFinal(const std::string& job_id, absl::Duration timeout);

  std::shared_ptr<grpc::Channel> InProcessChannel() const {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);  // A snapshot is as large as its job.
    return server_->InProcessChannel(arguments);
  }
  void AnnouncePage(const std::string& url) { job_service_.AddFeature("page=" + url); }
  const JobHub& hub() const { return *hub_; }
  const std::string& address() const { return acceptor_.address(); }

 private:
  absl::Status Recover();
  void ReportJournal();
  void Notice(const std::string& line) const {
    if (options_.on_notice) options_.on_notice(line);
  }
  void TickUntilStopped();
  void Tick();
  void UpdateContention();
  void RefreshTokens();
  void SetServing(bool serving);

  const MasterOptions options_;
  store::DirectoryLock data_dir_lock_;  // outlives the journal
  store::JobHistory history_;           // stored in the data directory
  service::Metrics metrics_;
  service::Clock clock_;
  service::Log log_;
  const std::unique_ptr<service::Tokens> tokens_;
  service::Acceptor acceptor_;
  service::Gate gate_;
  service::Deliveries deliveries_;
  std::shared_ptr<JobHub> hub_;  // subscriptions may outlive the master
  // For work that neither ticks nor calls wait for.
  transport::TurnQueue aside_{1, transport::kNice};
  service::LiveWaits waits_{{}, &aside_};
  JobTable jobs_;
  IngestService ingest_;
  service::WorkflowTable workflows_;
  service::ExplainService explain_service_;
  service::JobService job_service_;
  UnknownCalls unknown_calls_{TIDEMARK_VERSION};
  std::unique_ptr<grpc::Server> server_;
  std::atomic<bool> draining_ = false;

  std::mutex mutex_;  // Guards stopping_ and ticks_.
  std::condition_variable changed_;
  bool stopping_ = false;
  std::uint64_t ticks_ = 0;
  bool journal_ok_ = true;  // last reported state; used by the tick thread
  absl::Time tokens_checked_at_ = absl::InfinitePast();  // used by the tick thread
  absl::Time contention_at_ = absl::InfinitePast();      // used by the thread of aside_
  std::thread ticker_;
};

absl::Status Master::Impl::Recover() {
  absl::StatusOr<store::DirectoryLock> lock = store::DirectoryLock::Acquire(options_.data_dir);
  if (!lock.ok()) return lock.status();
  data_dir_lock_ = *std::move(lock);
  const store::HistoryOptions history = {.age_max = options_.history_age_max,
                                         .bytes_max = options_.history_bytes_max};
  if (absl::Status status = history_.Open(options_.data_dir, history, absl::Now()); !status.ok()) {
    return status;
  }
  const absl::Time begin = clock_.Now();
  const auto recovery =
      jobs_.Recover(begin, std::max<std::size_t>(std::thread::hardware_concurrency(), 1));
  if (!recovery.ok()) return recovery.status();
  const absl::Duration took = clock_.Now() - begin;
  const auto note = [this](const service::Recovery& found) {
    clock_.NotBefore(found.latest);
    for (const std::string& damage : found.damages) Notice(damage);
  };
  note(*recovery);
  if (recovery->restored > 0) {
    log_.Info("jobs recovered", "",
              {{"jobs", fmt::to_string(recovery->restored)},
               {"records", fmt::to_string(recovery->records)},
               {"seconds", fmt::format("{:.3f}", absl::ToDoubleSeconds(took))},
               {"data_dir", options_.data_dir}});
  }
  const auto workflows = workflows_.Recover(begin);
  if (!workflows.ok()) return workflows.status();
  note(*workflows);
  if (workflows->restored > 0) {
    log_.Info("workflows recovered", "", {{"workflows", fmt::to_string(workflows->restored)}});
  }
  return absl::OkStatus();
}

// Reports to the operator and to health checks that the journal has failed or works again.
void Master::Impl::ReportJournal() {
  const absl::Status status = jobs_.journal().status();
  if (status.ok() == journal_ok_) return;
  journal_ok_ = status.ok();
  if (!draining_) {
    server_->GetHealthCheckService()->SetServingStatus(kIngestServiceName, status.ok());
  }
  Notice(status.ok()
             ? "journal writable again"
             : fmt::format("cannot write the journal: {}; the master acknowledges no events "
                           "and publishes no snapshots until it can",
                           std::string(status.message())));
}

absl::Status Master::Impl::Start() {
  if (!options_.data_dir.empty()) {
    if (absl::Status status = Recover(); !status.ok()) return status;
  }
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  if (absl::Status status = acceptor_.Listen(options_.listen_address); !status.ok()) return status;
  grpc::ServerBuilder builder;
  acceptor_.Attach(builder, service::MakeServerCredentials(options_.tls));
  LimitUnauthenticated(options_, builder);
  EnableKeepalive(builder);
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<std::size_t>(options_.message_bytes_max, std::numeric_limits<int>::max())));
  builder.RegisterService(&ingest_);
  builder.RegisterService(&explain_service_);
  builder.RegisterService(&job_service_);
  builder.RegisterCallbackGenericService(&unknown_calls_);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return absl::UnavailableError("cannot start the gRPC server");
  acceptor_.Serve();
  SetServing(true);
  ticker_ = std::thread([this] { TickUntilStopped(); });
  return absl::OkStatus();
}

void Master::Impl::SetServing(bool serving) {
  if (server_ == nullptr) return;
  grpc::HealthCheckServiceInterface& health = *server_->GetHealthCheckService();
  health.SetServingStatus(serving);  // Sets the status of the whole server.
  for (const char* service : kServices) health.SetServingStatus(service, serving);
}

MasterStats Master::Impl::stats() const {
  MasterStats stats = metrics_.Read();
  stats.watchers = hub_->watchers();
  return stats;
}

void Master::Impl::RefreshTokens() {
  const absl::Time now = clock_.Now();
  if (now < tokens_checked_at_ + kTokensCheckedEvery) return;
  tokens_checked_at_ = now;
  const absl::StatusOr<bool> changed = tokens_->Refresh();
  if (!changed.ok()) {
    log_.Warn("cannot reload the tokens; the old tokens stay valid", "",
              {{"reason", std::string(changed.status().message())}});
  } else if (*changed) {
    log_.Info("tokens reloaded", "", {{"tokens", fmt::to_string(tokens_->table()->size())}});
  }
}

void Master::Impl::Tick() {
  const service::Stopwatch stopwatch(&metrics_.tick);
  for (const PublishedJob& published : jobs_.TickDue(clock_.Now())) {
    const auto& job = published.newest;
    if (job->sequence == 1) log_.Info("job opened", job->job_id);
    if (job->is_final) log_.Info("job ended", job->job_id, {{"state", NameOf(job->state)}});
    workflows_.Observe(job);
    metrics_.snapshots_published.fetch_add(1, std::memory_order_relaxed);
  }
  for (const PublishedJob& published : workflows_.TickDue(clock_.Now())) {
    const auto& workflow = published.newest;
    const std::string& id = workflow->job_id;
    if (workflow->sequence == 1) log_.Info("workflow submitted", "", {{"workflow", id}});
    if (workflow->is_final) {
      log_.Info("workflow ended", "", {{"workflow", id}, {"state", NameOf(workflow->state)}});
    }
    metrics_.snapshots_published.fetch_add(1, std::memory_order_relaxed);
  }
  // This may take long, or wait for a long answer.
  constexpr const char* kWaits = "waits";
  if (!aside_.IsBusy(kWaits)) {
    aside_.Add(kWaits, [this] {
      waits_.Advance(clock_.Now(),
                     [this](const std::string& job_id) { return hub_->Find(job_id).ok(); });
      UpdateContention();
    });
  }
  hub_->EndRound();
}

void Master::Impl::UpdateContention() {
  const absl::Time now = clock_.Now();
  if (now < contention_at_ + kContentionEvery) return;
  contention_at_ = now;
  const ContentionQuestion question = {.last = kContentionTime, .rows_max = kWaitReasonCount};
  waits::ContentionSums sums(
      question, [](const std::string&) { return true; }, /*wants_graph=*/false);
  waits_.AddContention(sums);
  metrics_.SetContention(std::move(sums).Finish());
}

void Master::Impl::TickUntilStopped() {
  const service::TickPace pace = PaceOf(options_);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto began = std::chrono::steady_clock::now();
    const absl::Duration cpu_began = service::ThreadCpuTime();
    lock.unlock();
    RefreshTokens();
    Tick();
    ReportJournal();
    lock.lock();
    ++ticks_;
    changed_.notify_all();
    const absl::Duration pause =
        pace.PauseAfter(absl::FromChrono(std::chrono::steady_clock::now() - began),
                        service::ThreadCpuTime() - cpu_began);
    changed_.wait_for(lock, absl::ToChronoNanoseconds(std::min(pause, kWaitMax)),
                      [this] { return stopping_; });
  }
}

absl::StatusOr<Snapshot> Master::Impl::WaitUntilFinal(const std::string& job_id,
                                                      absl::Duration timeout) {
  const absl::Time deadline = clock_.Now() + timeout;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const std::uint64_t seen = ticks_;
    lock.unlock();
    const absl::StatusOr<PublishedJob> job = hub_->Find(job_id);
    if (job.ok() && job->newest->is_final) return *job->newest;
    lock.lock();
    const absl::Duration left = deadline - clock_.Now();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(
          fmt::format("job {} did not end within {}", job_id, text::ElapsedText(timeout)));
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
  aside_.Stop();
  SetServing(false);
  hub_->CloseAll();
  ingest_.CloseAll();
  acceptor_.Stop();
  if (server_ == nullptr) return;
  server_->GetHealthCheckService()->Shutdown();
  server_->Shutdown(std::chrono::system_clock::now() +
                    absl::ToChronoMilliseconds(std::min(grace, kWaitMax)));
  server_->Wait();
  ingest_.Stop();
  deliveries_.turns.Stop();
}

absl::Status Validate(const MasterOptions& options) {
  absl::Status status = transport::CheckListenAddress(
      options.listen_address, options.allow_insecure_remote,
      {.encrypted = !options.tls.certificate_file.empty(),
       .authenticated = !options.tls.client_ca_file.empty() || !options.tokens_file.empty()});
  if (status.ok()) status = service::CheckTls(options.tls);
  if (status.ok()) status = service::Tokens::Load(options.tokens_file).status();
  if (status.ok()) status = Validate(options.job);
  if (!status.ok()) return status;
  if (options.tick_interval_min < absl::Milliseconds(10) ||
      options.tick_interval < options.tick_interval_min) {
    return absl::InvalidArgumentError(
        "tick_interval_min: must be at least 10 ms and at most tick_interval");
  }
  if (options.journal_commit_interval < absl::ZeroDuration() ||
      options.journal_commit_interval > absl::Seconds(10)) {
    return absl::InvalidArgumentError("journal_commit_interval: must be from 0 to 10 s");
  }
  if (options.jobs_max == 0) return absl::InvalidArgumentError("jobs_max: must be at least 1");
  if (options.share_percent == 0 || options.share_percent > 100) {
    return absl::InvalidArgumentError("share_percent: must be from 1 to 100");
  }
  if (options.workflows_max == 0 || options.workflow_jobs_max == 0) {
    return absl::InvalidArgumentError("workflows_max, workflow_jobs_max: must be at least 1");
  }
  return absl::OkStatus();
}

Master::Master(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Master::~Master() = default;

absl::StatusOr<std::unique_ptr<Master>> Master::Start(const MasterOptions& options) {
  if (absl::Status status = Validate(options); !status.ok()) return status;
  auto tokens = service::Tokens::Load(options.tokens_file);
  if (!tokens.ok()) return tokens.status();
  auto impl = std::make_unique<Impl>(options, *std::move(tokens));
  if (absl::Status status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<Master>(new Master(std::move(impl)));
}

const std::string& Master::address() const { return impl_->address(); }
std::shared_ptr<grpc::Channel> Master::InProcessChannel() const {
  return impl_->InProcessChannel();
}
absl::StatusOr<Snapshot> Master::GetJob(const std::string& job_id) const {
  const absl::StatusOr<PublishedJob> job = impl_->hub().Find(job_id);
  if (!job.ok()) return job.status();
  return *job->newest;
}
std::vector<Snapshot> Master::ListJobs() const {
  std::vector<Snapshot> snapshots;
  const auto all = [](const Snapshot&) { return true; };
  for (const PublishedJob& job : impl_->hub().List({}, all, SIZE_MAX)) {
    snapshots.push_back(*job.newest);
  }
  return snapshots;
}
absl::Status Master::Report(const Event& event) { return impl_->Report(event); }

absl::StatusOr<std::unique_ptr<Master::Subscription>> Master::Watch(
    const std::string& job_id, std::function<void(const Snapshot&)> on_snapshot) {
  return impl_->Watch(job_id, std::move(on_snapshot));
}
absl::StatusOr<Snapshot> Master::WaitUntilFinal(const std::string& job_id,
                                                absl::Duration timeout) const {
  return impl_->WaitUntilFinal(job_id, timeout);
}
MasterStats Master::stats() const { return impl_->stats(); }
void Master::AnnouncePage(const std::string& url) { impl_->AnnouncePage(url); }
void Master::Drain() { impl_->Drain(); }
void Master::Shutdown(absl::Duration grace) { impl_->Shutdown(grace); }

}  // namespace tidemark
