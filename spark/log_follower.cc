#include "spark/log_follower.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "spark/log_files.h"
#include "text/duration_text.h"

namespace tidemark::spark {
namespace {

namespace fs = std::filesystem;

// Interval between searches for new logs: a folder may hold the logs of years.
constexpr absl::Duration kLookInterval = absl::Seconds(5);
// How long the ends of queries and jobs may follow the end of their application. A driver that
// stops writes them within moments.
constexpr absl::Duration kLastEventsWithin = absl::Seconds(5);
// As often as executors of Spark report to their driver.
constexpr absl::Duration kSignInterval = absl::Seconds(10);
constexpr std::string_view kInProgress = ".inprogress";

// When the log was last written, if its name says that its application runs.
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

LogFollower::LogFollower(std::string folder, LogFollowerOptions options)
    : folder_(std::move(folder)), options_(std::move(options)) {}

void LogFollower::Note(const std::string& line) const {
  if (options_.note) options_.note(line);
}

void LogFollower::Poll(absl::Time now, Take take) {
  if (now - looked_at_ >= kLookInterval) FindLogs(now);
  for (auto at = logs_.begin(); at != logs_.end() && !is_stopped_;) {
    const auto& [path, log] = *at;
    if (!Follow(path, at->second, now, take)) {
      if (!log.is_replaced) finished_.insert(path);
      at = logs_.erase(at);
    } else if (IsQuiet(log, now)) {
      Note(
          fmt::format("{} did not grow for {}: its driver may have been killed; the log is "
                      "followed again once it grows",
                      path, text::DurationText(options_.quiet_max)));
      at = logs_.erase(at);
    } else {
      ++at;
    }
  }
}

void LogFollower::FindLogs(absl::Time now) {
  looked_at_ = now;
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
    if (!reader.ok()) continue;  // its first file may be about to be made
    logs_.emplace(path, Log{*std::move(reader), SignsOfLife(options_.source_id), now});
  }
  std::erase_if(finished_, [&](const std::string& path) { return !named_running.contains(path); });
  const std::string trouble =
      error ? fmt::format("cannot read {}: {}", folder_, error.message()) : std::string();
  if (trouble != trouble_ && !trouble.empty()) Note(trouble);
  trouble_ = trouble;
}

// False: there is no more to come of it.
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
    log.signs.Observe(**event);
    take(**std::move(event));
  }
  for (const auto& remarks = log.reader->remarks(); log.remarks < remarks.size();) {
    Note(fmt::format("{}: {}", path, remarks[log.remarks++]));
  }
  if (log.reader->application().is_closed()) return false;
  const bool may_live = !log.reader->application().has_ended() && !IsQuiet(log, now);
  if (!is_stopped_ && may_live && now - log.sign_at >= kSignInterval) {
    log.sign_at = now;
    log.signs.Tell(now, take);
  }
  return true;
}

}  // namespace tidemark::spark
