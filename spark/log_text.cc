#include "spark/log_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tidemark::spark {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
// Number of bytes that identify a followed file. Another log has other bytes at the same position.
constexpr std::size_t kSeenBytes = 1024;

absl::Status CannotReadFile(const std::string& file) {
  return absl::UnavailableError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
}

absl::Status Replaced(const std::string& file) {
  return absl::AbortedError(fmt::format(
      "{} was truncated or replaced while being followed; reading it again from the start", file));
}

}  // namespace

LogText::~LogText() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<LogText::Step> LogText::Read() {
  text_.clear();
  if (!damage_.ok()) return damage_;
  if (!is_open_) {
    if (absl::Status opened = OpenFile(); !opened.ok()) return opened;
    return Step::kFile;
  }
  is_cut_ = unpacker_->is_cut();
  if (packed_at_ == packed_.size()) {
    if (absl::Status read = ReadFile(); !read.ok()) return read;
    if (packed_.empty()) return NextFile();
  }
  const absl::StatusOr<std::size_t> taken =
      unpacker_->Unpack(std::string_view(packed_).substr(packed_at_), text_);
  if (!taken.ok()) {
    damage_ =
        absl::Status(taken.status().code(),
                     fmt::format("{}: {}", files_[file_], std::string(taken.status().message())));
    if (text_.empty()) return damage_;
  }
  packed_at_ += taken.value_or(0);
  bytes_ += text_.size();
  is_cut_ = unpacker_->is_cut();
  return Step::kText;
}

absl::Status LogText::OpenFile() {
  const std::string& file = files_[file_];
  if (IsInArchive(file)) {
    auto archived = ArchivedFile::Open(file);
    if (!archived.ok()) return archived.status();
    archived_ = *std::move(archived);
  } else {
    descriptor_ = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) return CannotReadFile(file);
    struct stat what;
    if (fstat(descriptor_, &what) != 0) return CannotReadFile(file);
    if (!S_ISREG(what.st_mode)) {
      return absl::InvalidArgumentError(
          fmt::format("{} is not a regular file, as the file of a log must be", file));
    }
  }
  unpacker_ = std::make_unique<Unpacker>();
  is_open_ = true;
  return absl::OkStatus();
}

// Reads the next piece of the file into packed_. Reads seen_ and the bytes after it in one call,
// which proves that both belong to the same file.
absl::Status LogText::ReadFile() {
  packed_at_ = 0;
  if (archived_ != nullptr) {
    packed_.clear();
    return archived_->Read(kReadBytes, packed_);
  }
  packed_.resize(seen_.size() + kReadBytes);
  ssize_t size = 0;
  do {
    size = pread(descriptor_, packed_.data(), packed_.size(),
                 static_cast<off_t>(file_bytes_ - seen_.size()));
  } while (size < 0 && errno == EINTR);
  const int error = errno;
  packed_.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (size < 0) {
    errno = error;
    return CannotReadFile(files_[file_]);
  }
  if (!packed_.starts_with(seen_)) return Replaced(files_[file_]);
  packed_.erase(0, seen_.size());
  file_bytes_ += packed_.size();
  if (follows_) {
    seen_ += packed_;
    if (seen_.size() > kSeenBytes) seen_.erase(0, seen_.size() - kSeenBytes);
  }
  return absl::OkStatus();
}

// Opens the next file, which Spark starts once this one is complete.
absl::StatusOr<LogText::Step> LogText::NextFile() {
  if (file_ + 1 == files_.size() && follows_) {
    if (auto next = FileAfter(files_[file_])) files_.push_back(*std::move(next));
  }
  if (file_ + 1 == files_.size()) {
    if (follows_ && IsRenamed()) return Replaced(files_[file_]);
    return Step::kEnd;
  }
  ++file_;
  file_bytes_ = 0;
  seen_.clear();
  is_open_ = false;
  archived_.reset();
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  return Read();
}

// Returns true if the path of the current file now names another file.
bool LogText::IsRenamed() const {
  struct stat opened;
  struct stat named;
  return fstat(descriptor_, &opened) == 0 && stat(files_[file_].c_str(), &named) == 0 &&
         (named.st_ino != opened.st_ino || named.st_dev != opened.st_dev);
}

}  // namespace tidemark::spark
