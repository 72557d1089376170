#include "tidemark/agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "agent/connection.h"
#include "agent/map_recorder.h"
#include "agent/monotonic.h"
#include "agent/reduce_recorder.h"
#include "agent/shared.h"

namespace tidemark::agent {

// The single thread of an agent. It executes the commands of the inbox, collects measurements,
// reports at every flush interval, polls the connection, and reports problems to the engine. It
// sleeps while none of these is due. An exception here ends the thread and turns the agent off.
class Background {
 public:
  // Throws if the thread cannot be created.
  Background(const AgentOptions& options, std::shared_ptr<Shared> shared);
  ~Background() { Stop(std::chrono::steady_clock::now()); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Blocks until the master has answered all events so far. Returns true if it has, and no event
  // was dropped.
  bool Flush(Instant deadline);
  // Flushes without waiting for the end of a backoff, then ends the connection by `deadline` and
  // stops the thread. Idempotent; not thread-safe.
  void Stop(Instant deadline);

 private:
  void Run();
  void RunUntilStopped();
  void TakeUntil(Instant deadline);
  void Execute(const Command& command);
  void GiveUp(const Command& command);
  void GiveUpAll();
  void ReportProblems(absl::Duration patience);
  absl::Duration UnansweredFor() const;
  absl::Duration Patience() const;
  Instant NextSilenceReport(Instant now) const;
  void ReportIfDue(Instant now);
  void ReportAll();
  Instant NextFlush() const;

  const std::shared_ptr<Shared> shared_;

  std::atomic<bool> last_attempt_{false};
  std::atomic<bool> stopping_{false};

  // Only the background thread uses the members below, and Stop() after the thread has ended.
  Connection connection_;
  std::vector<Command> commands_;  // the last commands taken from the inbox
  std::size_t executed_ = 0;       // number of executed commands
  std::vector<std::shared_ptr<Reporter>> reporters_;
  Instant last_flush_ = std::chrono::steady_clock::now();
  std::thread thread_;
};

namespace {

// Number of flush intervals without a response after which the agent reports the master as
// unresponsive.
constexpr int kPatienceReports = 3;
// Lower bound of the time without a response, which excludes short pauses of a busy machine from
// the reports.
constexpr absl::Duration kPatienceMin = absl::Seconds(3);

}  // namespace

Background::Background(const AgentOptions& options, std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      connection_(options.master_address, options.security, shared_),
      thread_([this] { Run(); }) {}

bool Background::Flush(Instant deadline) {
  if (shared_->off_reason() != nullptr) return false;
  const std::uint64_t dropped_before = shared_->outbox.counts().dropped;
  auto promise = std::make_shared<std::promise<std::optional<std::uint64_t>>>();
  std::future<std::optional<std::uint64_t>> answer = promise->get_future();
  if (!shared_->inbox.Push(FlushNow{std::move(promise)})) {
    return shared_->outbox.empty() && shared_->off_reason() == nullptr;
  }
  if (answer.wait_until(deadline) != std::future_status::ready) return false;
  const std::optional<std::uint64_t> newest = answer.get();
  return newest.has_value() && shared_->outbox.WaitUntilSettled(*newest, deadline) &&
         shared_->outbox.counts().dropped == dropped_before;
}

void Background::Stop(Instant deadline) {
  if (!thread_.joinable()) return;
  last_attempt_.store(true);
  Guarded(*shared_, [&] { Flush(deadline - kCancelTimeout); });
  stopping_.store(true);
  shared_->inbox.Wake();
  thread_.join();
  Guarded(*shared_, [&] { connection_.Close(deadline); });
  GiveUpAll();
  shared_->outbox.CountUnsentAsDropped();
  Guarded(*shared_, [&] { ReportProblems(absl::ZeroDuration()); });
  reporters_.clear();
}

void Background::Run() {
  if (Guarded(*shared_, [this] { RunUntilStopped(); }) && shared_->off_reason() == nullptr) return;
  connection_.GiveUp();
  GiveUpAll();
  Guarded(*shared_, [this] {
    shared_->problems.OnTurnedOff(shared_->off_reason());
    ReportProblems(absl::InfiniteDuration());
  });
}

void Background::RunUntilStopped() {
  Instant deadline = NextFlush();
  while (!stopping_.load() && shared_->off_reason() == nullptr) {
    TakeUntil(deadline);
    for (const std::shared_ptr<Reporter>& reporter : reporters_) reporter->Collect();
    const Instant now = std::chrono::steady_clock::now();
    ReportIfDue(now);
    if (last_attempt_.exchange(false)) connection_.SkipBackoff();
    deadline = std::min(connection_.Poll(now), NextFlush());
    ReportProblems(Patience());
    deadline = std::min(deadline, NextSilenceReport(now));
  }
}

void Background::TakeUntil(Instant deadline) {
  commands_ = shared_->inbox.WaitUntil(deadline);
  for (; executed_ < commands_.size(); ++executed_) Execute(commands_[executed_]);
  commands_.clear();
  executed_ = 0;
}

// Drops a command that will never be executed.
void Background::GiveUp(const Command& command) {
  if (const auto* flush = std::get_if<FlushNow>(&command)) {
    flush->newest->set_value(std::nullopt);
  } else if (std::holds_alternative<SendEvent>(command) ||
             std::holds_alternative<EndReports>(command)) {
    shared_->outbox.CountDropped();  // the last report of a task
  }
}

void Background::GiveUpAll() {
  for (; executed_ < commands_.size(); ++executed_) GiveUp(commands_[executed_]);
  for (const Command& command : shared_->inbox.Close()) GiveUp(command);
}

absl::Duration Background::UnansweredFor() const {
  const std::optional<std::int64_t> oldest = shared_->outbox.oldest_made_at_nanos();
  return oldest ? ClockReading::Now().Since(*oldest) : absl::ZeroDuration();
}

absl::Duration Background::Patience() const {
  return std::max(kPatienceMin, kPatienceReports * shared_->settings.flush_interval());
}

void Background::ReportProblems(absl::Duration patience) {
  shared_->problems.ReportNew(UnansweredFor(), patience, shared_->transport.last_reason());
}

// Returns the time at which an unresponsive master is to be reported.
Instant Background::NextSilenceReport(Instant now) const {
  const absl::Duration unanswered_for = UnansweredFor();
  const bool waits = unanswered_for > absl::ZeroDuration() && shared_->problems.waits_for_silence();
  return waits ? After(now, Patience() - unanswered_for) : Instant::max();
}

Instant Background::NextFlush() const {
  if (reporters_.empty()) return After(std::chrono::steady_clock::now(), absl::Hours(1));
  return After(last_flush_, shared_->settings.flush_interval());
}

void Background::ReportIfDue(Instant now) {
  if (reporters_.empty() || now < NextFlush()) return;
  ReportAll();
}

void Background::ReportAll() {
  last_flush_ = std::chrono::steady_clock::now();
  for (const std::shared_ptr<Reporter>& reporter : reporters_) reporter->Report();
}

void Background::Execute(const Command& command) {
  if (const auto* event = std::get_if<SendEvent>(&command)) {
    shared_->outbox.Add(event->body, event->made_at_nanos);
  } else if (const auto* start = std::get_if<StartReports>(&command)) {
    // The first report follows after a full interval.
    if (reporters_.empty()) last_flush_ = std::chrono::steady_clock::now();
    reporters_.push_back(start->reporter);
  } else if (const auto* profiles = std::get_if<StartProfiles>(&command)) {
    profiles->reporter->BeginProfiles();
  } else if (const auto* end = std::get_if<EndReports>(&command)) {
    end->reporter->ReportLast();
    std::erase(reporters_, end->reporter);
  } else if (const auto* flush = std::get_if<FlushNow>(&command)) {
    ReportAll();
    flush->newest->set_value(shared_->outbox.newest());
  }
}

}  // namespace tidemark::agent

namespace tidemark {
namespace agent {
namespace {

// Returns "HOST-PID-RANDOM". The random part distinguishes restarted processes and several agents
// of one process.
std::string MakeSourceId() {
  std::array<char, 65> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"host"};
  return fmt::format("{}-{}-{}", host.data(), getpid(), MakeRunUid());
}

// The agent for an engine that has no master, and its task agents. All calls are ignored.
class NoMapTask final : public MapTaskAgent {
 public:
  void InputRead(std::uint64_t, std::uint64_t) override {}
  void AddGroup(std::uint32_t, std::string_view, std::uint64_t, std::uint64_t) override {}
  void Finish() override {}
};

class NoReduceTask final : public ReduceTaskAgent {
 public:
  void InputFetched(std::uint64_t) override {}
  void Shuffled() override {}
  void BeginGroup(std::string_view) override {}
  void ValueRead(std::uint64_t) override {}
  void BytesEmitted(std::uint64_t) override {}
  void EndGroup() override {}
  void Finish() override {}
};

class NoAgent final : public Agent {
 public:
  void OpenJob(const JobOpened&) override {}
  void OpenStage(const StageOpened&) override {}
  void OpenExecutor(const ExecutorOpened&) override {}
  void CloseJob(JobOutcome, std::string_view) override {}
  void Changed(const AttemptChanged&) override {}
  std::unique_ptr<MapTaskAgent> StartMapTask(TaskAttempt) override {
    return std::make_unique<NoMapTask>();
  }
  std::unique_ptr<ReduceTaskAgent> StartReduceTask(TaskAttempt) override {
    return std::make_unique<NoReduceTask>();
  }
  bool Flush(absl::Duration) override { return true; }
  void Shutdown() override {}
  AgentStats stats() const override { return {}; }
};

// The limit of one JobOpened (event.proto).
constexpr std::size_t kOpenedStagesMax = 10'000;

// Clears the task sizes, first in bytes and then in records, that do not fit into `bytes_max`.
// Subtracts the remaining sizes from `bytes_max`. Returns true if it cleared any size.
bool LeaveOutSizes(StageOpened& stage, std::size_t& bytes_max) {
  constexpr std::size_t kSizeBytes = 10;  // maximum encoded size
  bool left_out = false;
  for (std::vector<std::uint64_t>* sizes : {&stage.task_bytes, &stage.task_records}) {
    const std::size_t bytes = kSizeBytes * sizes->size();
    if (bytes <= bytes_max) {
      bytes_max -= bytes;
    } else {
      sizes->clear();
      left_out = true;
    }
  }
  return left_out;
}

class LiveAgent final : public Agent {
 public:
  explicit LiveAgent(const AgentOptions& options)
      : shutdown_budget_(options.shutdown_budget),
        shared_(std::make_shared<Shared>(
            options, options.source_id.empty() ? MakeSourceId()
                                               : options.source_id.substr(0, kSourceIdBytesMax))),
        background_(options, shared_) {}
  ~LiveAgent() override { Shutdown(); }

  // Events may be sent long after their creation, so each event carries its own time.
  void OpenJob(const JobOpened& job) override {
    Enqueue([&] {
      JobOpened opened = job;
      if (!opened.submitted_at) opened.submitted_at = absl::Now();
      opened.stages.resize(std::min(opened.stages.size(), kOpenedStagesMax));
      std::size_t bytes_max = shared_->whole_event_bytes_max();
      for (StageOpened& stage : opened.stages) Fit(stage, bytes_max);
      return opened;
    });
    for (std::size_t i = kOpenedStagesMax; i < job.stages.size(); ++i) OpenStage(job.stages[i]);
  }
  void CloseJob(JobOutcome outcome, std::string_view message) override {
    Enqueue([&] { return JobClosed{outcome, std::string(message), absl::Now()}; });
  }
  void OpenStage(const StageOpened& stage) override {
    Enqueue([&] {
      StageOpened opened = stage;
      std::size_t bytes_max = shared_->whole_event_bytes_max();
      Fit(opened, bytes_max);
      return opened;
    });
  }
  void OpenExecutor(const ExecutorOpened& executor) override {
    Enqueue([&] { return executor; });
  }
  void Changed(const AttemptChanged& change) override {
    Enqueue([&] {
      AttemptChanged changed = change;
      if (!changed.at) changed.at = absl::Now();
      return changed;
    });
  }

  std::unique_ptr<MapTaskAgent> StartMapTask(TaskAttempt attempt) override {
    std::unique_ptr<MapTaskAgent> task;
    Guarded(*shared_, [&] { task = std::make_unique<MapRecorder>(attempt, shared_); });
    return task == nullptr ? std::make_unique<NoMapTask>() : std::move(task);
  }
  std::unique_ptr<ReduceTaskAgent> StartReduceTask(TaskAttempt attempt) override {
    std::unique_ptr<ReduceTaskAgent> task;
    Guarded(*shared_, [&] { task = std::make_unique<ReduceRecorder>(attempt, shared_); });
    return task == nullptr ? std::make_unique<NoReduceTask>() : std::move(task);
  }

  bool Flush(absl::Duration budget) override {
    bool is_flushed = false;
    Guarded(*shared_, [&] {
      is_flushed = background_.Flush(After(std::chrono::steady_clock::now(), budget));
    });
    return is_flushed;
  }

  void Shutdown() override {
    const std::lock_guard lock(shutdown_mutex_);
    background_.Stop(After(std::chrono::steady_clock::now(), shutdown_budget_));
  }

  AgentStats stats() const override {
    const OutboxCounts counts = shared_->outbox.counts();
    AgentStats stats;
    stats.events_sent = counts.sent;
    stats.events_acknowledged = counts.acknowledged;
    stats.events_rejected = counts.rejected;
    stats.events_dropped = counts.dropped;
    stats.points_dropped =
        counts.points_dropped + shared_->points_dropped.load(std::memory_order_relaxed);
    stats.stages_without_sizes = stages_without_sizes_.load(std::memory_order_relaxed);
    stats.connections_made = shared_->transport.connections_made();
    stats.connections_lost = shared_->transport.connections_lost();
    if (const auto oldest = shared_->outbox.oldest_made_at_nanos()) {
      stats.unanswered_for = ClockReading::Now().Since(*oldest);
    }
    Guarded(*shared_, [&] {
      const char* const off_reason = shared_->off_reason();
      stats.last_error = off_reason == nullptr ? shared_->transport.last_error()
                                               : std::string("reporting is off: ") + off_reason;
      stats.job_refusal = shared_->transport.job_refusal();
    });
    return stats;
  }

 private:
  void Fit(StageOpened& stage, std::size_t& bytes_max) {
    if (!LeaveOutSizes(stage, bytes_max)) return;
    stages_without_sizes_.fetch_add(1, std::memory_order_relaxed);
  }

  // `make` returns the event.
  template <typename Make>
  void Enqueue(Make make) {
    if (!Guarded(*shared_, [&] { shared_->Enqueue(make()); })) shared_->outbox.CountDropped();
  }

  const absl::Duration shutdown_budget_;
  const std::shared_ptr<Shared> shared_;
  std::atomic<std::uint64_t> stages_without_sizes_{0};
  std::mutex shutdown_mutex_;  // Two threads may call Shutdown().
  Background background_;
};

}  // namespace
}  // namespace agent

std::unique_ptr<Agent> Agent::Create(const AgentOptions& options) {
  if (options.master_address.empty()) return std::make_unique<agent::NoAgent>();
  try {
    return std::make_unique<agent::LiveAgent>(options);
  } catch (...) {
    // If no thread or memory is available, the agent does nothing, so that the engine can work.
    return std::make_unique<agent::NoAgent>();
  }
}

std::string MakeRunUid() {
  std::random_device random;
  const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
  return fmt::format("{:016x}", number);
}

}  // namespace tidemark
