#include "spark/log_reader.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <variant>

#include "spark/executed_plans.h"
#include "spark/log_files.h"
#include "text/counted.h"
#include "text/duration_text.h"
#include "tidemark/job_monitor.h"

namespace tidemark::spark {
namespace {

// If this many bytes of text contain no Spark event, the file is not a log.
constexpr std::uint64_t kTextWithoutEventsMax = std::uint64_t{1} << 20;
// Bytes of text that one call reads from a followed log. Because of this limit, a log that unpacks
// mostly to whitespace delays other logs by at most about 0.2 s.
constexpr std::uint64_t kTextAtOnceMax = std::uint64_t{64} << 20;

// Returns true if the file is the log of a master, which has another format.
bool IsOfMaster(const std::string& file) {
  constexpr std::string_view kMagic = "TIDELOG";
  std::string begin(kMagic.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), kMagic.size());
  return begin == kMagic;
}

EventScanner::Kept KeptFor(const LogParserOptions& options) {
  if (options.plans != nullptr) return EventScanner::ForPlans();
  return options.measured != nullptr ? EventScanner::ForSettings() : EventScanner::ForProgress();
}

}  // namespace

// --- LogParser --------------------------------------------------------------------------------

LogParser::LogParser(LogParserOptions options)
    : options_(std::move(options)), scanner_(KeptFor(options_)) {}

void LogParser::Feed(std::string_view text, Take take) {
  scanner_.Feed(text, [&](std::string_view event) { Parse(event, take); });
}

void LogParser::Parse(std::string_view text, Take take) {
  nlohmann::json fields = ParseEventJson(text);
  if (fields.is_discarded() || !fields.contains("Event")) {
    ++broken_;
    return;
  }
  ++events_;
  const SparkEvent event(std::move(fields));
  if (options_.measured != nullptr) options_.measured->Observe(event);
  if (options_.plans != nullptr) options_.plans->Observe(event);
  translator_.Translate(event,
                        [&](absl::Time at, EventBody body) { Report(at, std::move(body), take); });
}

void LogParser::Gap(Take take) {
  translator_.Gap([&](absl::Time at, EventBody body) { Report(at, std::move(body), take); });
}

void LogParser::Finish(Take take) {
  translator_.Finish([&](absl::Time at, EventBody body) { Report(at, std::move(body), take); });
}

void LogParser::Report(absl::Time at, EventBody body, Take take) {
  if (job_id_.empty()) {
    job_id_ = options_.job_id.empty() ? translator_.application_id() : options_.job_id;
    if (job_id_.empty()) job_id_ = "spark";
  }
  const std::uint64_t lost = translator_.missing_events() + scanner_.lost_events();
  sequence_ += 1 + (lost - std::exchange(lost_, lost));
  take({.job_id = job_id_,
        .source_id = "driver",
        .sequence = sequence_,
        .sent_at = at,
        .arrived_at = at,
        .body = std::move(body)});
}

LogCounts LogParser::counts() const {
  return {.events = events_,
          .unused_events = translator_.unused_events(),
          .contradictions = translator_.contradictions(),
          .broken_events = broken_ + scanner_.broken_events(),
          .oversized_events = scanner_.oversized_events(),
          .missing_events = translator_.missing_events(),
          .missing_ends = translator_.missing_ends()};
}

// --- LogReader --------------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<LogReader>> LogReader::Open(const std::string& path,
                                                           const LogReaderOptions& options) {
  absl::StatusOr<std::vector<std::string>> files = FilesOfLog(path);
  if (!files.ok()) return files.status();
  return Open(LogFiles{.path = path, .files = *std::move(files)}, options);
}

absl::StatusOr<std::unique_ptr<LogReader>> LogReader::Open(const LogFiles& log,
                                                           const LogReaderOptions& options) {
  if (log.files.size() == 1 && IsArchive(log.files.front())) {
    // LogsAt() lists a damaged archive in a folder like a file.
    const auto archived = FilesInArchive(log.files.front());
    if (!archived.ok()) return archived.status();
  }
  return std::unique_ptr<LogReader>(
      new LogReader(log.path, std::make_unique<LogText>(log.files, options.follows), options));
}

LogReader::LogReader(std::string path, std::unique_ptr<LogText> text,
                     const LogReaderOptions& options)
    : path_(std::move(path)),
      options_(options),
      text_(std::move(text)),
      parser_({.job_id = options.job_id, .measured = options.measured, .plans = options.plans}) {}

bool LogReader::is_cut() const { return parser_.is_cut() || text_->is_cut(); }

bool LogReader::is_truncated() const {
  return is_at_end_ && is_cut() && !IsBeingWritten(text_->file());
}

absl::StatusOr<std::optional<Event>> LogReader::Next() {
  const std::uint64_t until = text_->bytes() + kTextAtOnceMax;
  while (events_.empty()) {
    if (options_.follows && text_->bytes() > until) return std::nullopt;
    if (!error_.ok()) return error_;
    const absl::StatusOr<bool> more = ReadPiece();
    if (more.ok() && *more) continue;
    if (more.ok() && options_.follows) return std::nullopt;
    error_ = more.ok() ? Verdict() : more.status();
    if (!options_.follows) EndLog();
    if (error_.ok() && events_.empty()) {
      is_at_end_ = true;
      return std::nullopt;
    }
  }
  std::optional<Event> event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void LogReader::Finish() {
  parser_.Finish([&](Event event) { events_.push_back(std::move(event)); });
}

// Ends a log that has been read. If the last file breaks off within a frame, it is truncated,
// unless a driver may still be writing it.
void LogReader::EndLog() {
  if (error_.ok() && text_->is_cut() && !is_truncated_ && !IsBeingWritten(text_->file())) {
    is_truncated_ = true;
    Remark(CutRemark(text_->file(), /*is_within_event=*/false, /*is_within_frame=*/true));
  }
  Finish();
}

// Parses the next piece. Returns false if there are no more bytes for now.
absl::StatusOr<bool> LogReader::ReadPiece() {
  const absl::StatusOr<LogText::Step> step = text_->Read();
  if (!step.ok()) return step.status();
  switch (*step) {
    case LogText::Step::kEnd:
      return false;
    case LogText::Step::kFile:
      BeginFile();
      return true;
    case LogText::Step::kText:
      break;
  }
  parser_.Feed(text_->text(), [&](Event event) { events_.push_back(std::move(event)); });
  RemarkOnClock();
  if (absl::Status fault = Fault(); !fault.ok()) return fault;
  if (text_->bytes() > kTextWithoutEventsMax && parser_.counts().events == 0 && !parser_.is_cut()) {
    if (absl::Status verdict = Verdict(); !verdict.ok()) return verdict;
  }
  return true;
}

void LogReader::BeginFile() {
  const std::string& file = text_->file();
  const std::string before = text_->file_before();
  std::string missing = MissingRemark(before, file);
  if (before.empty()) {
    first_file_ = file;
  } else {
    Remark(CutRemark(before, parser_.is_cut(), text_->is_cut()));
    parser_.EndFile();
    if (!missing.empty()) {
      parser_.Gap([&](Event event) { events_.push_back(std::move(event)); });
    }
  }
  Remark(std::move(missing));
  const bool is_compacted = IsCompacted(file);
  parser_.SetCompacted(is_compacted);
  if (is_compacted) {
    Remark("Spark has compacted the log: jobs and queries that had ended by then are missing");
  }
}

// Returns an error if the events so far do not describe an application that can be read. The limits
// on stages and groups do not apply to followed logs or if plans are read.
absl::Status LogReader::Fault() const {
  const bool has_stages = parser_.application().stages() > JobLimits::kStagesMax;
  const bool has_groups = parser_.application().groups() > kGroupsMax;
  if (!options_.follows && options_.plans == nullptr && (has_stages || has_groups)) {
    return absl::ResourceExhaustedError(
        fmt::format("{}: the application has more than {}, the limit for a log; follow it with a "
                    "master instead (tidemark serve --spark-logs)",
                    path_,
                    has_stages ? fmt::format("{} stages", JobLimits::kStagesMax)
                               : fmt::format("{} jobs and SQL queries", kGroupsMax)));
  }
  const std::string& fault = parser_.application().fault();
  if (fault.empty()) return absl::OkStatus();
  const std::string missing = MissingRemark("", first_file_);
  return absl::InvalidArgumentError(
      fmt::format("{}: {}{}{}", path_, fault, missing.empty() ? "" : "; ", missing));
}

// Returns an error if the whole log cannot be shown.
absl::Status LogReader::Verdict() const {
  if (parser_.counts().events == 0 && IsOfMaster(path_)) {
    return absl::InvalidArgumentError(fmt::format(
        "{} is the log of a Tidemark master, not of Spark; show it with tidemark replay", path_));
  }
  if (parser_.counts().events == 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} is neither a Spark event log nor a Hadoop history file: it {}", path_,
                    text_->bytes() == 0 ? "is empty" : "contains no Spark event"));
  }
  const bool has_plans = options_.plans != nullptr && options_.plans->has_plans();
  if (!parser_.application().is_open() && !has_plans) {
    return absl::InvalidArgumentError(
        fmt::format("{}: the application never started, or none of its events has a time", path_));
  }
  return absl::OkStatus();
}

// Adds a remark unless `text` is empty.
void LogReader::Remark(std::string text) {
  if (text.empty() || remarks_.size() == kRemarksMax) return;
  remarks_.push_back(std::move(text));
}

void LogReader::RemarkOnClock() {
  const auto remark = [this](const Translator::ClockSteps& steps, std::uint64_t& noted,
                             const char* direction, const char* correction) {
    if (steps.times == std::exchange(noted, steps.times)) return;
    Remark(fmt::format(
        "the driver's clock was set {} by {} at {} UTC; later times are moved {} by the same "
        "amount",
        direction, text::DurationText(steps.by),
        absl::FormatTime("%Y-%m-%d %H:%M:%S", steps.at, absl::UTCTimeZone()), correction));
  };
  remark(parser_.application().clock_set_back(), noted_set_backs_, "back", "forward");
  remark(parser_.application().clock_set_forward(), noted_steps_forward_, "forward", "back");
}

// --- remarks ----------------------------------------------------------------------------------

std::vector<std::string> RemarksOn(const LogReader& log, std::uint64_t rejected) {
  std::vector<std::string> remarks = log.remarks();
  const LogCounts counts = log.counts();
  if (counts.missing_events > 0) {
    remarks.push_back(fmt::format(
        "at least {} {} missing from the log, judging by task numbers and references in other "
        "events; the missing work is unknown",
        text::Counted(counts.missing_events, "event"), counts.missing_events == 1 ? "is" : "are"));
  }
  if (counts.missing_ends > 0) {
    remarks.push_back(fmt::format(
        "at least {} {} missing from the log, since stages ended with fewer finished tasks than "
        "they have; the times of these tasks are unknown",
        text::Counted(counts.missing_ends, "end") + " of tasks",
        counts.missing_ends == 1 ? "is" : "are"));
  }
  if (const std::uint64_t dropped = counts.contradictions + rejected; dropped > 0) {
    remarks.push_back(fmt::format(
        "skipped {} in conflict with others, such as a task of a stage that was never opened",
        text::Counted(dropped, "event")));
  }
  if (counts.broken_events > 0) {
    remarks.push_back(fmt::format("skipped {} with incomplete or invalid JSON",
                                  text::Counted(counts.broken_events, "event")));
  }
  if (counts.oversized_events > 0) {
    remarks.push_back(fmt::format("skipped {} above the size limit",
                                  text::Counted(counts.oversized_events, "event")));
  }
  if (log.is_at_end() && !log.application().is_closed()) {
    remarks.emplace_back(
        "the log ends before the application: it was running when the log was copied, or was "
        "killed");
  }
  return remarks;
}

std::vector<std::string> RemarksOn(const ImpossibleValues& impossible) {
  std::vector<std::string> remarks;
  if (impossible.counters > 0) {
    remarks.push_back(
        fmt::format("skipped {} of tasks (the first: {}), because their values were negative, "
                    "fractional or too large",
                    text::Counted(impossible.counters, "counter"), impossible.first_counter));
  }
  if (impossible.tasks > 0) {
    remarks.push_back(
        fmt::format("skipped the counters of {} whose reported duration exceeds three years",
                    text::Counted(impossible.tasks, "task")));
  }
  return remarks;
}

namespace {

namespace fs = std::filesystem;

// Interval between searches for new logs. A search is costly, since a folder may contain the logs
// of many years.
constexpr absl::Duration kSearchInterval = absl::Seconds(5);
// Time after the end of an application within which the ends of its queries and jobs may follow. A
// driver that stops writes them within moments.
constexpr absl::Duration kLastEventsWithin = absl::Seconds(5);
// Interval of reports on running tasks, equal to Spark's interval between executor and driver.
constexpr absl::Duration kReportInterval = absl::Seconds(10);
// Maximum number of reported running tasks per log. It bounds the cost for a master while the log
// does not grow. This many reports suffice to show that the job runs.
constexpr std::size_t kReportedTasksMax = 1000;

// Returns the time at which the log was last written, or nullopt if its name shows that its
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
          fmt::format("{} has not grown for {}; its driver may have been killed; following resumes "
                      "when the log grows",
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
    if (!reader.ok()) continue;  // The driver may be about to create its first file.
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
