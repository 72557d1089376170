#include "cli/spark_replay.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "cli/spark_remarks.h"

namespace tidemark::cli {
namespace {

// As a master ticks. Over a pause there are fewer: each goes a tenth of what is left of it.
constexpr absl::Duration kTick = absl::Seconds(1);
constexpr double kShareOfPause = 0.1;
// A log does not give up: an application may wait for days.
constexpr absl::Duration kAbandonAfter = absl::Hours(24 * 3650);

}  // namespace

absl::StatusOr<SparkReplay> SparkReplay::Open(const std::string& path,
                                              const SparkReplayOptions& options) {
  auto log = spark::LogReader::Open(path, {});
  if (!log.ok()) return log.status();
  return SparkReplay(*std::move(log), options);
}

SparkReplay::SparkReplay(std::unique_ptr<spark::LogReader> log, const SparkReplayOptions& options)
    : log_(std::move(log)), options_(options) {
  options_.monitor.abandon_after = kAbandonAfter;
}

absl::StatusOr<bool> SparkReplay::Next() {
  while (!has_ended_) {
    if (!next_) {
      absl::StatusOr<std::optional<Event>> event = log_->Next();
      if (!event.ok()) return event.status();
      next_ = *std::move(event);
      if (next_ && !monitor_) {
        monitor_.emplace(next_->job_id, options_.monitor);
        tick_ = next_->arrived_at + kTick;
      }
    }
    const bool is_over = !next_ || monitor_->is_closed();
    if (!is_over && tick_ > next_->arrived_at) {
      Apply(*next_);
      next_.reset();
      continue;
    }
    const absl::Time at = is_over ? now_ : tick_;
    if (!is_over) {
      signs_.Tell(at, [&](const Event& sign) { monitor_->Apply(sign).IgnoreError(); });
      tick_ += std::max(kTick, (next_->arrived_at - tick_) * kShareOfPause);
    }
    has_ended_ = is_over;
    if (!monitor_) return false;
    monitor_->Tick(at);
    if (has_ended_) Teach();
    return true;
  }
  return false;
}

void SparkReplay::Apply(const Event& event) {
  now_ = event.arrived_at;
  if (options_.on_event) options_.on_event(event);
  if (!monitor_->Apply(event).ok()) ++refused_;
  signs_.Observe(event);
  if (const auto* opened = std::get_if<JobOpened>(&event.body)) Learn(*opened);
}

// From other runs: the same may have been replayed before.
void SparkReplay::Learn(const JobOpened& opened) {
  if (options_.history == nullptr || opened.name.empty()) return;
  const auto jobs = options_.history->OfName(
      opened.name, 2 * JobMonitor::kPastRunsMax,
      [&](const std::string& id, const std::string&) { return id != next_->job_id; });
  if (!jobs.ok()) {
    history_trouble_ = jobs.status();
    return;
  }
  std::vector<PastRun> runs;
  for (const store::FinishedJob& job : *jobs) {
    if (runs.size() == JobMonitor::kPastRunsMax) break;
    if (auto run = PastRunOf(job.final, job.summary)) runs.push_back(*std::move(run));
  }
  monitor_->SetPastRuns(std::move(runs));
}

void SparkReplay::Teach() {
  if (options_.history == nullptr || !monitor_->job().is_final) return;
  history_trouble_.Update(
      options_.history->Add({.final = monitor_->job(), .summary = monitor_->Summary()}));
}

std::vector<std::string> SparkReplay::Remarks() const {
  std::vector<std::string> remarks = RemarksOn(*log_, refused_);
  if (!history_trouble_.ok()) remarks.emplace_back(history_trouble_.message());
  return remarks;
}

}  // namespace tidemark::cli
