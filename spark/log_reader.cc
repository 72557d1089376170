#include "spark/log_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "spark/log_files.h"

namespace tidemark::spark {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
// Of what has been read of a followed file: another log that has the same at the same place is none
// that an application wrote. bytes
constexpr std::size_t kSeenBytes = 1024;
// Text without a single event of Spark, after which no more is read. bytes
constexpr std::uint64_t kTextWithoutEventsMax = std::uint64_t{1} << 20;
// Limits how long others wait for a followed log that unpacks to next to nothing but space: about a
// fifth of a second. bytes
constexpr std::uint64_t kTextAtOnceMax = std::uint64_t{64} << 20;

absl::Status CannotRead(const std::string& file) {
  return absl::UnavailableError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
}

// What a master keeps of a job, which is another format.
bool IsOfAMaster(const std::string& file) {
  constexpr std::string_view kMagic = "TIDELOG";
  std::string begin(kMagic.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), kMagic.size());
  return begin == kMagic;
}

absl::Status Replaced(const std::string& file) {
  return absl::AbortedError(fmt::format(
      "{} was truncated or replaced while it was followed; it is read again from its start", file));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogReader>> LogReader::Open(const std::string& path,
                                                           const LogReaderOptions& options) {
  absl::StatusOr<std::vector<std::string>> files = FilesOfLog(path);
  if (!files.ok()) return files.status();
  return std::unique_ptr<LogReader>(new LogReader(path, *std::move(files), options));
}

LogReader::LogReader(std::string path, std::vector<std::string> files,
                     const LogReaderOptions& options)
    : path_(std::move(path)),
      options_(options),
      files_(std::move(files)),
      parser_({.job_id = options.job_id, .measured = options.measured}) {}

LogReader::~LogReader() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool LogReader::is_cut() const {
  return parser_.is_cut() || (unpacker_ != nullptr && unpacker_->is_cut());
}

absl::StatusOr<std::optional<Event>> LogReader::Next() {
  const std::uint64_t until = text_bytes_ + kTextAtOnceMax;
  while (events_.empty()) {
    if (options_.follows && text_bytes_ > until) return std::nullopt;
    if (!error_.ok()) return error_;
    const absl::StatusOr<bool> more = ReadPiece();
    if (!more.ok()) {
      error_ = more.status();
    } else if (!*more) {
      if (!options_.follows) error_ = Verdict();
      if (error_.ok()) return std::nullopt;
    }
  }
  std::optional<Event> event = std::move(events_.front());
  events_.pop_front();
  return event;
}

// Unpacks and parses a piece. False: there is nothing more, for now.
absl::StatusOr<bool> LogReader::ReadPiece() {
  if (packed_at_ == packed_.size()) {
    if (descriptor_ < 0) {
      descriptor_ = open(files_[file_].c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
      if (descriptor_ < 0) return CannotRead(files_[file_]);
      struct stat what;
      if (fstat(descriptor_, &what) != 0) return CannotRead(files_[file_]);
      if (!S_ISREG(what.st_mode)) {
        return absl::InvalidArgumentError(
            fmt::format("{} is no regular file; logs are read from those alone", files_[file_]));
      }
      unpacker_ = std::make_unique<Unpacker>();
    }
    if (absl::Status read = ReadFile(); !read.ok()) return read;
    if (packed_.empty()) return NextFile();
  }
  text_.clear();
  const absl::StatusOr<std::size_t> taken =
      unpacker_->Unpack(std::string_view(packed_).substr(packed_at_), text_);
  if (!taken.ok()) {
    return absl::Status(taken.status().code(), fmt::format("{}: {}", files_[file_],
                                                           std::string(taken.status().message())));
  }
  packed_at_ += *taken;
  text_bytes_ += text_.size();
  parser_.Feed(text_, [&](Event event) { events_.push_back(std::move(event)); });
  if (const std::string& fault = parser_.application().fault(); !fault.empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", path_, fault));
  }
  if (text_bytes_ > kTextWithoutEventsMax && parser_.counts().events == 0 && !parser_.is_cut()) {
    return Verdict();
  }
  return true;
}

// The next piece of the file into packed_: what follows what has been seen of it. Both are read at
// once, so that the piece is of the file that was seen.
absl::Status LogReader::ReadFile() {
  packed_.resize(seen_.size() + kPieceBytes);
  packed_at_ = 0;
  ssize_t size = 0;
  do {
    size = pread(descriptor_, packed_.data(), packed_.size(),
                 static_cast<off_t>(file_bytes_ - seen_.size()));
  } while (size < 0 && errno == EINTR);
  const int error = errno;
  packed_.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (size < 0) {
    errno = error;
    return CannotRead(files_[file_]);
  }
  if (!packed_.starts_with(seen_)) return Replaced(files_[file_]);
  packed_.erase(0, seen_.size());
  file_bytes_ += packed_.size();
  if (options_.follows) {
    seen_ += packed_;
    if (seen_.size() > kSeenBytes) seen_.erase(0, seen_.size() - kSeenBytes);
  }
  return absl::OkStatus();
}

// Spark goes on in the next file once this one is complete.
absl::StatusOr<bool> LogReader::NextFile() {
  if (file_ + 1 == files_.size() && options_.follows) {
    if (auto next = FileAfter(files_[file_])) files_.push_back(*std::move(next));
  }
  if (file_ + 1 == files_.size()) {
    if (options_.follows && IsRenamed()) return Replaced(files_[file_]);
    return false;
  }
  ++file_;
  file_bytes_ = 0;
  seen_.clear();
  close(std::exchange(descriptor_, -1));
  return true;
}

// Whether its path names another file by now.
bool LogReader::IsRenamed() const {
  struct stat opened;
  struct stat named;
  return fstat(descriptor_, &opened) == 0 && stat(files_[file_].c_str(), &named) == 0 &&
         (named.st_ino != opened.st_ino || named.st_dev != opened.st_dev);
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
