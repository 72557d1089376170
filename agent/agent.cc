#include "tidemark/agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "agent/background.h"
#include "agent/map_recorder.h"
#include "agent/reduce_recorder.h"
#include "agent/shared.h"

namespace tidemark {
namespace agent {
namespace {

// Returns "HOST-PID-RANDOM". A restarted process and a second agent in a process get other ids.
std::string MakeSourceId() {
  std::array<char, 65> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"host"};
  return fmt::format("{}-{}-{}", host.data(), getpid(), MakeRunUid());
}

// The agent for an engine without a master, and its task agents. They ignore all calls.
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
// Subtracts the remaining sizes from `bytes_max`. Returns true if it cleared any.
bool LeaveOutSizes(StageOpened& stage, std::size_t& bytes_max) {
  constexpr std::size_t kSizeBytes = 10;  // the maximum on the wire
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

  // Events may be sent long after they were created, so each carries its own time.
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
  std::mutex shutdown_mutex_;  // two threads may call Shutdown()
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
