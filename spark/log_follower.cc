#include "spark/log_follower.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "spark/log_files.h"
#include "text/duration_text.h"

namespace tidemark::spark {
namespace {

namespace fs = std::filesystem;

// Interval between searches for new logs. A search is costly, since a folder may hold the logs of
// years.
constexpr absl::Duration kSearchInterval = absl::Seconds(5);
// Time after the end of an application in which the ends of its queries and jobs may follow. A
// driver that stops writes them within moments.
constexpr absl::Duration kLastEventsWithin = absl::Seconds(5);
// Interval of reports on running tasks, equal to Spark's interval between executor and driver.
constexpr absl::Duration kReportInterval = absl::Seconds(10);
// Largest number of reported running tasks per log. It bounds the cost for a master while the log
// does not grow. This many reports suffice to show that the job runs.
constexpr std::size_t kReportedTasksMax = 1000;

// Returns the time at which the log was last written. Returns nullopt if its name shows that its
// application has ended.
std::optional<fs::file_time_type> WrittenAt(const fs::directory_entry& entry) {
  std::error_code error;
  if (!IsRollingLog(entry.path().string())) {
    if (!entry.path().string().ends_with(kInProgress)) return std::nullopt;
    const auto written_at = entry.last_write_time(error);
    return error ? std::nullopt : std::optional(written_at);
  }
  bool runs = false;
  fs::file_time_type newest = fs::file_time_type::min();
  for (fs::directory_iterator at(entry.path(), error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    runs = runs || at->path().string().ends_with(kInProgress);
    const auto written_at = at->last_write_time(ignored);
    if (!ignored) newest = std::max(newest, written_at);
  }
  return runs ? std::optional(newest) : std::nullopt;
}

}  // namespace

void RunningTasks::Observe(const Event& event) {
  job_id_ = event.job_id;
  run_uid_ = event.run_uid;
  const auto* changed = std::get_if<AttemptChanged>(&event.body);
  if (changed == nullptr) return;
  const AttemptId& id = changed->attempt;
  const std::tuple key(id.stage, id.stage_attempt, id.index, id.attempt);
  if (changed->state == AttemptState::kStarted) {
    if (running_.size() < kReportedTasksMax) running_.insert(key);
  } else {
    running_.erase(key);
  }
}

void RunningTasks::Report(absl::Time at, Take take) {
  if (job_id_.empty()) return;
  const auto report = [&](EventBody body) {
    take({.job_id = job_id_,
          .run_uid = run_uid_,
          .source_id = source_id_,
          .sequence = ++sequence_,
          .sent_at = at,
          .arrived_at = at,
          .body = std::move(body)});
  };
  for (const auto& [stage, stage_attempt, index, attempt] : running_) {
    report(TaskHeartbeat{
        .attempt = {
            .stage = stage, .index = index, .attempt = attempt, .stage_attempt = stage_attempt}});
  }
  if (running_.empty()) report(JobOpened{});
}

LogFollower::LogFollower(std::string folder, LogFollowerOptions options)
    : folder_(std::move(folder)), options_(std::move(options)) {}

void LogFollower::Note(const std::string& line) const {
  if (options_.note) options_.note(line);
}

void LogFollower::Poll(absl::Time now, Take take) {
  if (now - searched_at_ >= kSearchInterval) FindLogs(now);
  for (auto at = logs_.begin(); at != logs_.end() && !is_stopped_;) {
    const auto& [path, log] = *at;
    if (!Follow(path, at->second, now, take)) {
      if (!log.is_replaced) finished_.insert(path);
      at = logs_.erase(at);
    } else if (IsQuiet(log, now)) {
      Note(
          fmt::format("{} did not grow for {}: its driver may have been killed; following resumes "
                      "once the log grows",
                      path, text::DurationText(options_.quiet_max)));
      at = logs_.erase(at);
    } else {
      ++at;
    }
  }
}

void LogFollower::FindLogs(absl::Time now) {
  searched_at_ = now;
  std::set<std::string> named_running;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end && !is_stopped_;
       at.increment(error)) {
    const auto written_at = WrittenAt(*at);
    if (!written_at) continue;
    const std::string path = at->path().string();
    named_running.insert(path);
    const auto age = fs::file_time_type::clock::now() - *written_at;
    if (logs_.contains(path) || absl::FromChrono(age) > options_.quiet_max) continue;
    if (finished_.contains(path) || logs_.size() >= options_.logs_max) continue;
    auto reader = LogReader::Open(path, {.follows = true});
    if (!reader.ok()) continue;  // the driver may be about to create its first file
    logs_.emplace(path, Log{*std::move(reader), RunningTasks(options_.source_id), now});
  }
  std::erase_if(finished_, [&](const std::string& path) { return !named_running.contains(path); });
  const std::string folder_error =
      error ? fmt::format("cannot read {}: {}", folder_, error.message()) : std::string();
  if (folder_error != folder_error_ && !folder_error.empty()) Note(folder_error);
  folder_error_ = folder_error;
}

// Reads the new events of the log. Returns false if the log needs no more reading.
bool LogFollower::Follow(const std::string& path, Log& log, absl::Time now, Take take) {
  for (std::size_t events = 0; events < options_.events_max && !is_stopped_; ++events) {
    absl::StatusOr<std::optional<Event>> event = log.reader->Next();
    if (!event.ok()) {
      Note(std::string(event.status().message()));
      log.is_replaced = absl::IsAborted(event.status());
      return false;
    }
    const Translator& application = log.reader->application();
    if (application.has_ended() && !log.ended_at) log.ended_at = now;
    if (!*event && log.ended_at && !application.is_closed() &&
        now - std::max(*log.ended_at, log.grew_at) >= kLastEventsWithin) {
      log.reader->Finish();
      continue;
    }
    if (!*event) break;
    log.grew_at = now;
    (*event)->run_uid = (*event)->job_id;
    (*event)->sent_at = (*event)->arrived_at = now;
    log.running.Observe(**event);
    take(**std::move(event));
  }
  for (const auto& remarks = log.reader->remarks(); log.remarks < remarks.size();) {
    Note(fmt::format("{}: {}", path, remarks[log.remarks++]));
  }
  if (log.reader->application().is_closed()) return false;
  const bool may_run = !log.reader->application().has_ended() && !IsQuiet(log, now);
  if (!is_stopped_ && may_run && now - log.reported_at >= kReportInterval) {
    log.reported_at = now;
    log.running.Report(now, take);
  }
  return true;
}

}  // namespace tidemark::spark
