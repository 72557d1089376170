#include "tidemark/agent.h"

#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "agent/background.h"
#include "agent/map_recorder.h"
#include "agent/no_agent.h"
#include "agent/reduce_recorder.h"
#include "agent/shared.h"
#include "agent/source_id.h"

namespace tidemark {
namespace agent {
namespace {

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
    JobOpened opened = job;
    if (!opened.submitted_at) opened.submitted_at = absl::Now();
    shared_->Say(std::move(opened));
  }
  void CloseJob(JobOutcome outcome, std::string_view message) override {
    shared_->Say(JobClosed{outcome, std::string(message), absl::Now()});
  }
  void Changed(const AttemptChanged& change) override {
    AttemptChanged changed = change;
    if (!changed.at) changed.at = absl::Now();
    shared_->Say(std::move(changed));
  }

  std::unique_ptr<MapTaskAgent> StartMapTask(TaskAttempt attempt) override {
    return std::make_unique<MapRecorder>(attempt, shared_);
  }
  std::unique_ptr<ReduceTaskAgent> StartReduceTask(TaskAttempt attempt) override {
    return std::make_unique<ReduceRecorder>(attempt, shared_);
  }

  bool Flush(absl::Duration budget) override {
    return background_.Flush(After(std::chrono::steady_clock::now(), budget));
  }

  void Shutdown() override {
    const std::lock_guard lock(shutdown_mutex_);
    background_.Stop(After(std::chrono::steady_clock::now(), shutdown_budget_));
  }

  AgentStats stats() const override {
    const OutboxCounts counts = shared_->outbox.counts();
    AgentStats stats;
    stats.envelopes_sent = counts.sent;
    stats.envelopes_acknowledged = counts.acknowledged;
    stats.envelopes_rejected = counts.rejected;
    stats.events_dropped = counts.dropped;
    stats.points_dropped =
        counts.points_dropped + shared_->points_dropped.load(std::memory_order_relaxed);
    stats.connections_made = shared_->transport.connections_made();
    stats.connections_lost = shared_->transport.connections_lost();
    if (const auto oldest = shared_->outbox.oldest_made_at_nanos()) {
      stats.unanswered_for = ClockReading::Now().Since(*oldest);
    }
    stats.last_error = shared_->transport.last_error();
    stats.job_refusal = shared_->transport.job_refusal();
    return stats;
  }

 private:
  const absl::Duration shutdown_budget_;
  const std::shared_ptr<Shared> shared_;
  std::mutex shutdown_mutex_;  // two threads may both want the end
  Background background_;
};

}  // namespace
}  // namespace agent

std::unique_ptr<Agent> Agent::Create(const AgentOptions& options) {
  if (options.master_address.empty()) return agent::MakeNoAgent();
  try {
    return std::make_unique<agent::LiveAgent>(options);
  } catch (const std::exception&) {
    // No thread to be had: the engine's work matters more than ours.
    return agent::MakeNoAgent();
  }
}

}  // namespace tidemark
