#include "cli/spark/logs.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "absl/time/clock.h"

namespace tidemark::cli {
namespace {

constexpr std::chrono::seconds kPollInterval{1};
// Largest number of applications with logged rejections. Bounds memory.
constexpr std::size_t kRejectionsMax = 10'000;

}  // namespace

SparkLogs::SparkLogs(const std::string& folder, Master& master, LogSink log)
    : master_(master),
      log_(std::move(log)),
      follower_(folder, {.source_id = fmt::format("log-{}", absl::GetCurrentTimeNanos()),
                         .note =
                             [this](const std::string& line) {
                               log_({.severity = LogSeverity::kWarning, .message = line});
                             }}),
      thread_([this] { Run(); }) {}

SparkLogs::~SparkLogs() {
  follower_.Stop();
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

void SparkLogs::Run() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    lock.unlock();
    follower_.Poll(absl::Now(), [this](const Event& event) { Report(event); });
    lock.lock();
    stop_.wait_for(lock, kPollInterval, [this] { return is_stopped_; });
  }
}

void SparkLogs::Report(const Event& event) {
  const absl::Status reported = master_.Report(event);
  if (reported.ok() ||
      (rejections_.size() >= kRejectionsMax && !rejections_.contains(event.job_id)))
    return;
  // Logs one rejection of each kind.
  if (!rejections_[event.job_id].insert(reported.code()).second) return;
  log_({.severity = LogSeverity::kWarning,
        .message = fmt::format("log of {}: {}", event.job_id, std::string(reported.message()))});
}

}  // namespace tidemark::cli
