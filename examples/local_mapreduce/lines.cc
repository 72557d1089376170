#include "examples/local_mapreduce/lines.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"

namespace tidemark::examples {
namespace {

constexpr std::size_t kFetchBytes = std::size_t{256} << 10;

}  // namespace

absl::StatusOr<Lines> Lines::Open(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  absl::StatusOr<InputFileHandle> file = InputFileHandle::Open(path);
  if (!file.ok()) return file.status();
  return Lines(*std::move(file), begin, end);
}

absl::StatusOr<Lines> Lines::Open(const std::string& path) {
  absl::StatusOr<InputFileHandle> file = InputFileHandle::Open(path);
  if (!file.ok()) return file.status();
  const std::uint64_t size = file->size();
  return Lines(*std::move(file), 0, size);
}

Lines::Lines(InputFileHandle file, std::uint64_t begin, std::uint64_t end)
    : file_(std::move(file)), fetched_(begin), end_(end) {}

bool Lines::Next() {
  std::size_t newline = buffer_.find('\n', at_);
  while (newline == std::string::npos && fetched_ < end_) {
    const std::size_t searched = buffer_.size() - at_;
    if (!Fetch()) return false;
    newline = buffer_.find('\n', at_ + searched);
  }
  const std::size_t line_end = std::min(newline, buffer_.size());
  if (line_end == at_ && newline == std::string::npos) return false;
  line_offset_ = next_offset();
  line_ = std::string_view(buffer_).substr(at_, line_end - at_);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  at_ = std::min(line_end + 1, buffer_.size());
  return true;
}

bool Lines::Fetch() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t kept = buffer_.size();
  const std::size_t wanted = std::min<std::uint64_t>(kFetchBytes, end_ - fetched_);
  buffer_.resize(kept + wanted);
  status_ = file_.ReadAt(fetched_, buffer_.data() + kept, wanted);
  fetched_ += wanted;
  return status_.ok();
}

absl::Status AtLine(const InputFile& input, std::uint64_t offset, const absl::Status& wrong) {
  absl::StatusOr<Lines> before = Lines::Open(input.path, 0, offset);
  if (!before.ok()) return before.status();
  std::uint64_t number = 1;
  while (before->Next()) ++number;
  if (!before->status().ok()) return before->status();
  return Annotate(wrong, fmt::format("{}:{}", input.name, number));
}

}  // namespace tidemark::examples
