#include "examples/local_mapreduce/input.h"

#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "fmt/format.h"

namespace tidemark::examples {
namespace {

constexpr std::string_view kZstdSuffix = ".zst";

struct FreeDecompressor {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

absl::Status Decompress(const InputFileHandle& from, const std::string& to) {
  absl::StatusOr<FileWriter> writer = FileWriter::Create(to);
  if (!writer.ok()) return writer.status();
  const std::unique_ptr<ZSTD_DStream, FreeDecompressor> stream(ZSTD_createDStream());
  std::string compressed(ZSTD_DStreamInSize(), '\0');
  std::string plain(ZSTD_DStreamOutSize(), '\0');
  std::size_t frame_left = 0;  // 0 at the end of a frame
  for (std::uint64_t at = 0; at < from.size();) {
    const std::size_t size = std::min<std::uint64_t>(compressed.size(), from.size() - at);
    if (absl::Status read = from.ReadAt(at, compressed.data(), size); !read.ok()) return read;
    at += size;
    ZSTD_inBuffer in = {compressed.data(), size, 0};
    bool output_full = false;
    while (in.pos < in.size || output_full) {
      ZSTD_outBuffer out = {plain.data(), plain.size(), 0};
      frame_left = ZSTD_decompressStream(stream.get(), &out, &in);
      if (ZSTD_isError(frame_left)) {
        return absl::InvalidArgumentError(
            fmt::format("cannot decompress {}: {}", from.path(), ZSTD_getErrorName(frame_left)));
      }
      output_full = out.pos == out.size;
      writer->Append(std::string_view(plain.data(), out.pos));
    }
  }
  if (frame_left != 0) {
    return absl::InvalidArgumentError(
        fmt::format("cannot decompress {}: it is truncated", from.path()));
  }
  return writer->Close();
}

// Returns the start of the first line at or after `offset`.
absl::StatusOr<std::uint64_t> NextLine(const InputFileHandle& file, std::uint64_t offset) {
  std::string bytes;
  for (std::uint64_t at = offset - 1; at < file.size(); at += bytes.size()) {
    bytes.resize(std::min<std::uint64_t>(std::size_t{4} << 10, file.size() - at));
    if (absl::Status read = file.ReadAt(at, bytes.data(), bytes.size()); !read.ok()) return read;
    if (const auto newline = bytes.find('\n'); newline != std::string::npos) {
      return at + newline + 1;
    }
  }
  return file.size();
}

absl::Status AppendSplits(const InputFile& input, std::uint32_t index, std::uint64_t count,
                          std::vector<Split>& splits) {
  absl::StatusOr<InputFileHandle> file = InputFileHandle::Open(input.path);
  if (!file.ok()) return file.status();
  std::uint64_t begin = 0;
  for (std::uint64_t i = 1; i <= count; ++i) {
    std::uint64_t end = input.size_bytes;
    if (i < count) {
      const auto share = static_cast<double>(i) / static_cast<double>(count);
      const auto about = static_cast<std::uint64_t>(share * static_cast<double>(input.size_bytes));
      absl::StatusOr<std::uint64_t> line = NextLine(*file, std::max(about, std::uint64_t{1}));
      if (!line.ok()) return line.status();
      end = std::max(*line, begin);
    }
    if (end > begin) splits.push_back({.input = index, .begin = begin, .end = end});
    begin = end;
  }
  return absl::OkStatus();
}

constexpr std::size_t kFetchBytes = std::size_t{256} << 10;

}  // namespace

absl::StatusOr<std::vector<InputFile>> OpenInputs(const std::vector<std::string>& paths,
                                                  const std::string& directory) {
  std::vector<InputFile> inputs;
  for (const std::string& path : paths) {
    absl::StatusOr<InputFileHandle> file = InputFileHandle::Open(path);
    if (!file.ok()) return Annotate(file.status(), "input");
    InputFile input = {.path = path,
                       .name = std::filesystem::path(path).filename().string(),
                       .size_bytes = file->size()};
    if (path.ends_with(kZstdSuffix)) {
      input.name.resize(input.name.size() - kZstdSuffix.size());
      input.path = PathOf(directory, fmt::format("input-{}", inputs.size()));
      if (absl::Status done = Decompress(*file, input.path); !done.ok()) return done;
      input.size_bytes = std::filesystem::file_size(input.path);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

absl::StatusOr<std::vector<Split>> SplitInputs(const std::vector<InputFile>& inputs,
                                               std::uint32_t count) {
  double total_bytes = 0;
  for (const InputFile& input : inputs) total_bytes += static_cast<double>(input.size_bytes);
  std::vector<Split> splits;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size_bytes == 0) continue;
    const double share = static_cast<double>(inputs[i].size_bytes) / total_bytes;
    const auto wanted = static_cast<std::uint64_t>(std::lround(share * count));
    const std::uint64_t here = std::max(wanted, std::uint64_t{1});
    if (absl::Status done = AppendSplits(inputs[i], i, here, splits); !done.ok()) return done;
  }
  if (splits.empty() && !inputs.empty()) splits.push_back({});
  return splits;
}

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
