#include "examples/local_mapreduce/shuffle.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace tidemark::examples {
namespace {

constexpr std::uint64_t kCopyBytes = std::uint64_t{256} << 10;

// Map outputs are opened one at a time: there may be more of them than a process may hold open.
absl::Status Copy(const MapSegment& from, const std::function<void(std::string_view)>& take) {
  const Segment& segment = from.segment;
  absl::StatusOr<InputFileHandle> file = InputFileHandle::Open(from.file);
  if (!file.ok()) return file.status();
  std::string bytes;
  for (std::uint64_t copied = 0; copied < segment.size_bytes; copied += bytes.size()) {
    bytes.resize(std::min(kCopyBytes, segment.size_bytes - copied));
    absl::Status read = file->ReadAt(segment.offset + copied, bytes.data(), bytes.size());
    if (!read.ok()) return read;
    take(bytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShuffledPartition> ShuffledPartition::Fetch(const std::vector<MapSegment>& segments,
                                                           const std::string& path,
                                                           ReduceTaskAgent& watcher,
                                                           std::uint64_t memory_bytes_max) {
  std::uint64_t total_bytes = 0;
  for (const MapSegment& from : segments) total_bytes += from.segment.size_bytes;
  std::optional<FileWriter> writer;
  if (total_bytes > memory_bytes_max) {
    absl::StatusOr<FileWriter> created = FileWriter::Create(path);
    if (!created.ok()) return created.status();
    writer.emplace(*std::move(created));
  }
  ShuffledPartition shuffled;
  const auto take = [&](std::string_view bytes) {
    writer ? writer->Append(bytes) : static_cast<void>(shuffled.memory_.append(bytes));
    watcher.InputFetched(bytes.size());
  };
  std::uint64_t fetched = 0;
  for (const MapSegment& from : segments) {
    shuffled.places_.push_back({.offset = fetched, .size_bytes = from.segment.size_bytes});
    if (absl::Status copied = Copy(from, take); !copied.ok()) return copied;
    fetched += from.segment.size_bytes;
  }
  if (!writer) return shuffled;
  if (absl::Status closed = writer->Close(); !closed.ok()) return closed;
  absl::StatusOr<InputFileHandle> file = InputFileHandle::Open(path);
  if (!file.ok()) return file.status();
  shuffled.file_ = std::make_shared<const InputFileHandle>(*std::move(file));
  return shuffled;
}

std::vector<SegmentReader> ShuffledPartition::Readers() const {
  std::vector<SegmentReader> readers;
  for (const Place& place : places_) {
    if (file_ == nullptr) {
      readers.emplace_back(std::string_view(memory_).substr(place.offset, place.size_bytes));
    } else {
      readers.emplace_back(file_, place.offset, place.size_bytes);
    }
  }
  return readers;
}

}  // namespace tidemark::examples
