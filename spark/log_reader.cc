#include "spark/log_reader.h"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "spark/log_files.h"
#include "text/duration_text.h"

namespace tidemark::spark {
namespace {

// Text without a single event of Spark, after which no more is read. bytes
constexpr std::uint64_t kTextWithoutEventsMax = std::uint64_t{1} << 20;
// Limits how long others wait for a followed log that unpacks to next to nothing but space: about a
// fifth of a second. bytes
constexpr std::uint64_t kTextAtOnceMax = std::uint64_t{64} << 20;

// What a master keeps of a job, which is another format.
bool IsOfAMaster(const std::string& file) {
  constexpr std::string_view kMagic = "TIDELOG";
  std::string begin(kMagic.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), kMagic.size());
  return begin == kMagic;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogReader>> LogReader::Open(const std::string& path,
                                                           const LogReaderOptions& options) {
  auto text = LogText::Open(path, options.follows);
  if (!text.ok()) return text.status();
  return std::unique_ptr<LogReader>(new LogReader(path, *std::move(text), options));
}

LogReader::LogReader(std::string path, std::unique_ptr<LogText> text,
                     const LogReaderOptions& options)
    : path_(std::move(path)),
      options_(options),
      text_(std::move(text)),
      parser_({.job_id = options.job_id, .measured = options.measured}) {}

bool LogReader::is_cut() const { return parser_.is_cut() || text_->is_cut(); }

absl::StatusOr<std::optional<Event>> LogReader::Next() {
  const std::uint64_t until = text_->bytes() + kTextAtOnceMax;
  while (events_.empty()) {
    if (options_.follows && text_->bytes() > until) return std::nullopt;
    if (!error_.ok()) return error_;
    const absl::StatusOr<bool> more = ReadPiece();
    if (more.ok() && *more) continue;
    if (more.ok() && options_.follows) return std::nullopt;
    error_ = more.ok() ? Verdict() : more.status();
    if (!options_.follows) Finish();
    if (error_.ok() && events_.empty()) return std::nullopt;
  }
  std::optional<Event> event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void LogReader::Finish() {
  parser_.Finish([&](Event event) { events_.push_back(std::move(event)); });
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
    Remark("Spark has compacted the log: jobs and queries that had ended by then are left out");
  }
}

// Returns the reason why the events that were read do not describe an application.
absl::Status LogReader::Fault() const {
  const std::string& fault = parser_.application().fault();
  if (fault.empty()) return absl::OkStatus();
  const std::string missing = MissingRemark("", first_file_);
  return absl::InvalidArgumentError(
      fmt::format("{}: {}{}{}", path_, fault, missing.empty() ? "" : "; ", missing));
}

// REQUIRES: `text` is empty if there is nothing to remark.
void LogReader::Remark(std::string text) {
  if (text.empty() || remarks_.size() == kRemarksMax) return;
  remarks_.push_back(std::move(text));
}

void LogReader::RemarkOnClock() {
  const Translator::SetBack& set_back = parser_.application().clock_set_back();
  if (set_back.times == std::exchange(noted_set_backs_, set_back.times)) return;
  Remark(fmt::format(
      "the driver's clock was set back by {} at {} UTC; later times are moved forward by as much",
      text::DurationText(set_back.by),
      absl::FormatTime("%Y-%m-%d %H:%M:%S", set_back.at, absl::UTCTimeZone())));
}

// Of the whole of it.
absl::Status LogReader::Verdict() const {
  if (parser_.counts().events == 0 && IsOfAMaster(path_)) {
    return absl::InvalidArgumentError(fmt::format(
        "{} is a log of a Tidemark master, not of Spark; tidemark replay shows it", path_));
  }
  if (parser_.counts().events == 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} is no event log: it holds no event of Tidemark or of Spark", path_));
  }
  if (!parser_.application().is_open()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: the application never started, or no event says when anything happened; "
                    "there is nothing to show",
                    path_));
  }
  return absl::OkStatus();
}

}  // namespace tidemark::spark
