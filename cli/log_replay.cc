#include "cli/log_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "master/store/event_log.h"
#include "tidemark/limit.h"

namespace tidemark::cli {
namespace {

// Interval of ticks, equal to a master's. During a pause, each tick advances by a tenth of the
// remaining pause.
constexpr absl::Duration kTick = absl::Seconds(1);
constexpr double kShareOfPause = 0.1;
// A replay never abandons a silent job, which may wait for days.
constexpr absl::Duration kAbandonAfter = absl::Hours(24 * 3650);

}  // namespace

absl::StatusOr<LogReplay> LogReplay::Open(const std::string& path,
                                          const LogReplayOptions& options) {
  auto log = whatif::JobLog::Open(path);
  if (!log.ok()) return log.status();
  return LogReplay(path, *std::move(log), options);
}

LogReplay::LogReplay(std::string path, std::unique_ptr<whatif::JobLog> log,
                     const LogReplayOptions& options)
    : path_(std::move(path)),
      log_(std::move(log)),
      options_(options),
      steps_left_(static_cast<std::int64_t>(options.budget.steps_at_first)) {
  options_.monitor.abandon_after = kAbandonAfter;
  if (is_of_master()) options_.monitor = log_->of_master()->options();
  std::vector<std::string>& indicators = options_.monitor.indicators;
  if (options_.indicators) indicators = options_.indicators(std::move(indicators));
}

absl::StatusOr<bool> LogReplay::Next() {
  if (is_of_master()) return NextOfMaster();
  while (!has_ended_) {
    if (!limit_.ok()) return limit_;
    if (!next_) {
      absl::StatusOr<std::optional<Event>> event = log_->Next();
      if (!event.ok()) return event.status();
      next_ = *std::move(event);
      if (next_ && !monitor_) {
        monitor_.emplace(next_->job_id, options_.monitor);
        tick_ = next_->arrived_at + kTick;
      }
      if (next_ && next_->sequence > sequence_ + 1) monitor_->NoteGap(now_);
    }
    const bool is_over = !next_ || monitor_->is_closed();
    // Events of the same time belong together, such as the totals of a task and its end.
    const bool is_amid = next_ && next_->arrived_at == now_;
    if (!is_over && (tick_ > next_->arrived_at || steps_left_ < 0 || is_amid)) {
      Apply(*next_);
      next_.reset();
      steps_left_ += static_cast<std::int64_t>(options_.budget.steps_per_event);
      continue;
    }
    // An overdue tick happens now, since time never decreases.
    tick_ = std::max(tick_, now_);
    const absl::Time at = is_over ? now_ : tick_;
    if (!is_over) {
      running_.Report(at, [&](const Event& report) {
        monitor_->Apply(report).IgnoreError();
        --steps_left_;
      });
      tick_ += std::max(kTick, (next_->arrived_at - tick_) * kShareOfPause);
    }
    has_ended_ = is_over;
    if (!monitor_) return false;
    monitor_->Tick(at);
    steps_left_ -= static_cast<std::int64_t>(monitor_->tick_steps());
    if (has_ended_) SaveRun();
    return true;
  }
  return false;
}

absl::StatusOr<bool> LogReplay::NextOfMaster() {
  if (!monitor_) monitor_.emplace(log_->of_master()->job_id(), options_.monitor);
  for (;;) {
    const auto record = log_->NextRecord();
    if (!record.ok()) return record.status();
    if (!record->has_value()) return false;
    const auto* const event = std::get_if<Event>(&**record);
    if (event != nullptr && options_.on_event) options_.on_event(*event);
    if (store::Replay(**record, *monitor_) != nullptr) return true;
  }
}

void LogReplay::Apply(const Event& event) {
  now_ = event.arrived_at;
  sequence_ = event.sequence;
  if (options_.on_event) options_.on_event(event);
  const absl::Status applied = monitor_->Apply(event);
  if (!applied.ok()) ++rejected_;
  const std::string limit = ExceededLimit(applied);
  const bool is_rejected_job = !limit.empty() && !monitor_->is_open();
  if (is_rejected_job || limit == "stages_per_job" || limit == "state_bytes_per_job") {
    limit_ = absl::ResourceExhaustedError(
        fmt::format("{}: the replay ends early: {}", path_, std::string(applied.message())));
  }
  // Heartbeats that this replay adds have no byte counts, so for a MapReduce task they would
  // contradict earlier heartbeats. An empty JobOpened is applied instead.
  const bool is_of_task = std::holds_alternative<AttemptChanged>(event.body);
  if (log_->spark() != nullptr || !is_of_task) running_.Observe(event);
  if (std::holds_alternative<JobOpened>(event.body)) LoadPastRuns();
}

// Sets the past runs of the job, excluding an earlier replay of this run.
void LogReplay::LoadPastRuns() {
  const std::string name = monitor_->history_name();
  if (history_ == nullptr || name.empty()) return;
  auto jobs = history_->SucceededOfName(
      name, 2 * JobMonitor::kPastRunsMax,
      [&](const std::string& id, const std::string&) { return id != next_->job_id; });
  if (!jobs.ok()) {
    history_error_ = jobs.status();
    return;
  }
  std::erase_if(*jobs, [](const store::FinishedJob& job) {
    return !PastRunOf(job.final, job.summary).has_value();
  });
  while (jobs->size() > JobMonitor::kPastRunsMax) store::DropOneOfMostFrequentShape(*jobs);
  std::vector<PastRun> runs;
  for (const store::FinishedJob& job : *jobs) runs.push_back(*PastRunOf(job.final, job.summary));
  monitor_->SetPastRuns(std::move(runs));
}

void LogReplay::SaveRun() {
  if (history_ == nullptr || !monitor_->job().is_final) return;
  history_error_.Update(history_->Add({.final = monitor_->job(), .summary = monitor_->Summary()}));
}

std::vector<std::string> LogReplay::Remarks() const {
  std::vector<std::string> remarks = log_->Remarks(rejected_);
  if (!history_error_.ok()) {
    remarks.push_back(fmt::format("{}: {}", path_, std::string(history_error_.message())));
  }
  return remarks;
}

}  // namespace tidemark::cli
