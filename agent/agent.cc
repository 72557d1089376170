#include "tidemark/agent.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "agent/background.h"
#include "agent/guard.h"
#include "agent/map_recorder.h"
#include "agent/no_agent.h"
#include "agent/reduce_recorder.h"
#include "agent/shared.h"
#include "agent/source_id.h"

namespace tidemark {
namespace agent {
namespace {

// In one JobOpened (event.proto).
constexpr std::size_t kStagesMax = 10'000;

// Leaves out the sizes of tasks that make an event larger than `bytes_max`, those of records first;
// whether it did. Takes what stays from `bytes_max`.
bool LeaveOutSizes(StageOpened& stage, std::size_t& bytes_max) {
  constexpr std::size_t kSizeBytes = 10;  // at most, on the wire
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

  // An event may be sent long after it was made, so it carries its own time.
  void OpenJob(const JobOpened& job) override {
    Say([&] {
      JobOpened opened = job;
      if (!opened.submitted_at) opened.submitted_at = absl::Now();
      opened.stages.resize(std::min(opened.stages.size(), kStagesMax));
      std::size_t bytes_max = shared_->whole_event_bytes_max();
      for (StageOpened& stage : opened.stages) Fit(stage, bytes_max);
      return opened;
    });
    for (std::size_t i = kStagesMax; i < job.stages.size(); ++i) OpenStage(job.stages[i]);
  }
  void CloseJob(JobOutcome outcome, std::string_view message) override {
    Say([&] { return JobClosed{outcome, std::string(message), absl::Now()}; });
  }
  void OpenStage(const StageOpened& stage) override {
    Say([&] {
      StageOpened opened = stage;
      std::size_t bytes_max = shared_->whole_event_bytes_max();
      Fit(opened, bytes_max);
      return opened;
    });
  }
  void OpenExecutor(const ExecutorOpened& executor) override {
    Say([&] { return executor; });
  }
  void Changed(const AttemptChanged& change) override {
    Say([&] {
      AttemptChanged changed = change;
      if (!changed.at) changed.at = absl::Now();
      return changed;
    });
  }

  std::unique_ptr<MapTaskAgent> StartMapTask(TaskAttempt attempt) override {
    std::unique_ptr<MapTaskAgent> task;
    Guarded(*shared_, [&] { task = std::make_unique<MapRecorder>(attempt, shared_); });
    return task == nullptr ? MakeNoMapTask() : std::move(task);
  }
  std::unique_ptr<ReduceTaskAgent> StartReduceTask(TaskAttempt attempt) override {
    std::unique_ptr<ReduceTaskAgent> task;
    Guarded(*shared_, [&] { task = std::make_unique<ReduceRecorder>(attempt, shared_); });
    return task == nullptr ? MakeNoReduceTask() : std::move(task);
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

  // `make` gives the event.
  template <typename Make>
  void Say(Make make) {
    if (!Guarded(*shared_, [&] { shared_->Say(make()); })) shared_->outbox.CountDropped();
  }

  const absl::Duration shutdown_budget_;
  const std::shared_ptr<Shared> shared_;
  std::atomic<std::uint64_t> stages_without_sizes_{0};
  std::mutex shutdown_mutex_;  // two threads may both want the end
  Background background_;
};

}  // namespace
}  // namespace agent

std::unique_ptr<Agent> Agent::Create(const AgentOptions& options) {
  if (options.master_address.empty()) return agent::MakeNoAgent();
  try {
    return std::make_unique<agent::LiveAgent>(options);
  } catch (...) {
    // No thread or no memory to be had: the engine's work matters more than ours.
    return agent::MakeNoAgent();
  }
}

}  // namespace tidemark
