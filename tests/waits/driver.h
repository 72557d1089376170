// Sends the events of a job to ClusterWaits.
#pragma once

#include <cstdint>
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
  void Send(double at, EventBody body) {
    waits_.Apply({.job_id = job_id_,
                  .source_id = "driver of " + job_id_,
                  .sequence = ++sequence_,
                  .sent_at = Instant(at + ahead_),
                  .arrived_at = Instant(at),
                  .body = std::move(body)});
  }
  void Executor(const std::string& host, std::uint32_t slots) {
    Send(0, ExecutorOpened{.executor = executors_++, .host = host, .slots = slots});
  }
  void Stage(double at, std::uint32_t stage, std::uint32_t tasks, const std::string& group = "",
             std::vector<std::uint32_t> parents = {}) {
    Send(at, StageOpened{.stage = stage,
                         .parents = std::move(parents),
                         .group = group,
                         .task_count = tasks,
                         .opened_at = Instant(at + ahead_)});
  }
  void Start(double at, std::uint32_t stage, std::uint32_t index, std::uint32_t executor = 0) {
    Send(at, AttemptChanged{.attempt = {.stage = stage, .index = index},
                            .state = AttemptState::kStarted,
                            .at = Instant(at + ahead_),
                            .executor = executor});
  }
  // Starts the tasks `from` to `to` - 1 of a stage.
  void StartTasks(double at, std::uint32_t stage, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t index = from; index < to; ++index) Start(at, stage, index);
  }
  void EndTasks(double at, std::uint32_t stage, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t index = from; index < to; ++index) End(at, stage, index);
  }
  void Heartbeat(double at, std::uint32_t stage, std::uint32_t index, double computed,
                 double waited_for_processor) {
    TaskHeartbeat heartbeat{.attempt = {.stage = stage, .index = index}};
    heartbeat.time.cpu = absl::Seconds(computed);
    heartbeat.time.waits[WaitReason::kProcessor] = absl::Seconds(waited_for_processor);
    Send(at, heartbeat);
  }
  void Fetched(double at, std::uint32_t stage, std::uint32_t index, std::uint64_t bytes,
               double waited) {
    TaskHeartbeat heartbeat{.attempt = {.stage = stage, .index = index}};
    heartbeat.time.waits[WaitReason::kNetwork] = absl::Seconds(waited);
    heartbeat.time.moved_bytes[WaitReason::kNetwork] = bytes;
    Send(at, heartbeat);
  }
  void Wrote(double at, std::uint32_t stage, std::uint32_t index, std::uint64_t bytes,
             double waited) {
    TaskHeartbeat heartbeat{.attempt = {.stage = stage, .index = index}};
    heartbeat.time.waits[WaitReason::kIo] = absl::Seconds(waited);
    heartbeat.time.moved_bytes[WaitReason::kIo] = bytes;
    Send(at, heartbeat);
  }
  // Starts the only task of stage 0 at 0 s, on an executor with one slot.
  void RunTask(const std::string& host) {
    Executor(host, 1);
    Stage(0, 0, 1);
    Start(0, 0, 0);
  }
  void End(double at, std::uint32_t stage, std::uint32_t index) {
    Send(at, AttemptChanged{.attempt = {.stage = stage, .index = index},
                            .state = AttemptState::kFinished,
                            .at = Instant(at + ahead_)});
  }

 private:
  ClusterWaits& waits_;
  const std::string job_id_;
  double ahead_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint32_t executors_ = 0;
};

}  // namespace tidemark::waits
