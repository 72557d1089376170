// Sends the events of a job to ClusterWaits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "master/waits/cluster_waits.h"
#include "tidemark/event.h"

namespace tidemark::waits {

inline constexpr double kBegan = 1'600'000'000;
inline absl::Time Instant(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(kBegan) + absl::Seconds(seconds);
}

// Reports the events of its job in order.
class Driver {
 public:
  explicit Driver(ClusterWaits& waits, std::string job_id) : waits_(waits), job_id_(job_id) {
    Send(0, JobOpened{.name = job_id});
  }
  // Sets the driver's clock ahead of the master's clock.
  Driver& ClockAhead(double seconds) {
    ahead_ = seconds;
    return *this;
  }
  Driver& Send(double at, EventBody body) {
    waits_.Apply({.job_id = job_id_,
                  .source_id = "driver of " + job_id_,
                  .sequence = ++sequence_,
                  .sent_at = Instant(at + ahead_),
                  .arrived_at = Instant(at),
                  .body = std::move(body)});
    return *this;
  }
  Driver& Executor(const std::string& host, std::uint32_t slots) {
    return Send(0, ExecutorOpened{.executor = executors_++, .host = host, .slots = slots});
  }
  Driver& Stage(double at, std::uint32_t stage, std::uint32_t tasks, const std::string& group = "",
                std::vector<std::uint32_t> parents = {}) {
    return Send(at, StageOpened{.stage = stage,
                                .parents = std::move(parents),
                                .group = group,
                                .task_count = tasks,
                                .opened_at = Instant(at + ahead_)});
  }
  Driver& Start(double at, std::uint32_t stage, std::uint32_t index, std::uint32_t executor = 0) {
    return Send(at, AttemptChanged{.attempt = {.stage = stage, .index = index},
                                   .state = AttemptState::kStarted,
                                   .at = Instant(at + ahead_),
                                   .executor = executor});
  }
  Driver& End(double at, std::uint32_t stage, std::uint32_t index,
              std::optional<std::uint64_t> input_bytes = {}, std::uint32_t attempt = 0) {
    return Send(at, AttemptChanged{.attempt = {stage, index, attempt},
                                   .state = AttemptState::kFinished,
                                   .at = Instant(at + ahead_),
                                   .input_bytes = input_bytes});
  }
  // Starts the tasks `from` to `to` - 1 of a stage.
  Driver& StartTasks(double at, std::uint32_t stage, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t index = from; index < to; ++index) Start(at, stage, index);
    return *this;
  }
  Driver& EndTasks(double at, std::uint32_t stage, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t index = from; index < to; ++index) End(at, stage, index);
    return *this;
  }
  Driver& Heartbeat(double at, std::uint32_t stage, std::uint32_t index, double computed,
                    double waited_for_processor) {
    return Waited(at, stage, index, WaitReason::kProcessor, waited_for_processor, {}, computed);
  }
  Driver& Fetched(double at, std::uint32_t stage, std::uint32_t index, std::uint64_t bytes,
                  double waited) {
    return Waited(at, stage, index, WaitReason::kNetwork, waited, bytes);
  }
  Driver& Wrote(double at, std::uint32_t stage, std::uint32_t index, std::uint64_t bytes,
                double waited) {
    return Waited(at, stage, index, WaitReason::kIo, waited, bytes);
  }
  // Reports that a task has waited for a resource, of which it used `bytes`.
  Driver& Waited(double at, std::uint32_t stage, std::uint32_t index, WaitReason reason,
                 double waited, std::optional<std::uint64_t> bytes = {},
                 std::optional<double> computed = {}) {
    TaskHeartbeat heartbeat{.attempt = {.stage = stage, .index = index}};
    heartbeat.time.waits[reason] = absl::Seconds(waited);
    if (bytes) heartbeat.time.moved_bytes[reason] = *bytes;
    if (computed) heartbeat.time.cpu = absl::Seconds(*computed);
    return Send(at, heartbeat);
  }
  // Starts the only task of stage 0 at 0 s, on an executor with one slot.
  Driver& RunTask(const std::string& host) {
    return Executor(host, 1).Stage(0, 0, 1).Start(0, 0, 0);
  }
  Driver& Close(double at) { return Send(at, JobClosed{}); }

 private:
  ClusterWaits& waits_;
  const std::string job_id_;
  double ahead_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint32_t executors_ = 0;
};

}  // namespace tidemark::waits
