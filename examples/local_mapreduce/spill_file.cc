#include "examples/local_mapreduce/spill_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "fmt/format.h"

namespace tidemark::examples {
namespace {

constexpr std::size_t kReadBufferBytes = std::size_t{64} << 10;

using RecordHeader = std::array<std::uint32_t, 2>;  // key size, value size

}  // namespace

absl::StatusOr<SpillWriter> SpillWriter::Create(const std::string& path,
                                                std::uint32_t partition_count) {
  absl::StatusOr<FileWriter> file = FileWriter::Create(path);
  if (!file.ok()) return file.status();
  return SpillWriter(*std::move(file), partition_count);
}

SpillWriter::SpillWriter(FileWriter file, std::uint32_t partition_count)
    : file_(std::move(file)), segments_(partition_count) {}

void SpillWriter::Append(std::uint32_t partition, std::string_view key, std::string_view value) {
  Segment& segment = segments_[partition];
  if (segment.records == 0) segment.offset = file_.size();
  const RecordHeader header = {static_cast<std::uint32_t>(key.size()),
                               static_cast<std::uint32_t>(value.size())};
  file_.Append({reinterpret_cast<const char*>(&header), sizeof(header)});
  file_.Append(key);
  file_.Append(value);
  ++segment.records;
  segment.size_bytes += sizeof(header) + key.size() + value.size();
  segment.record_bytes += RecordBytes(key, value);
}

SegmentReader::SegmentReader(std::string_view bytes) : window_(bytes) {}

SegmentReader::SegmentReader(std::shared_ptr<const InputFileHandle> file, std::uint64_t offset,
                             std::uint64_t size_bytes)
    : file_(std::move(file)), offset_(offset), left_in_file_(size_bytes) {}

bool SegmentReader::Next() {
  if (window_.empty() && left_in_file_ == 0) return false;
  RecordHeader header;
  if (!Ensure(sizeof(header))) return false;
  std::memcpy(header.data(), window_.data(), sizeof(header));
  const auto [key_size, value_size] = header;
  if (!Ensure(sizeof(header) + std::uint64_t{key_size} + value_size)) return false;
  key_ = window_.substr(sizeof(header), key_size);
  value_ = window_.substr(sizeof(header) + key_size, value_size);
  window_.remove_prefix(sizeof(header) + key_size + value_size);
  return true;
}

// Extends the window to at least `size` bytes.
bool SegmentReader::Ensure(std::uint64_t size) { return window_.size() >= size || Fetch(size); }

bool SegmentReader::Fetch(std::uint64_t size) {
  if (size - window_.size() > left_in_file_) {
    status_ = absl::DataLossError(
        fmt::format("{}: a record is truncated", file_ ? file_->path() : "map output"));
    return false;
  }
  const std::size_t kept = window_.size();
  if (kept > 0) std::memmove(buffer_.data(), window_.data(), kept);
  buffer_.resize(std::max<std::uint64_t>({size, buffer_.size(), kReadBufferBytes}));
  const auto wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size() - kept, left_in_file_));
  status_ = file_->ReadAt(offset_, buffer_.data() + kept, wanted);
  if (!status_.ok()) return false;
  offset_ += wanted;
  left_in_file_ -= wanted;
  window_ = std::string_view(buffer_.data(), kept + wanted);
  return true;
}

std::uint64_t KeyPrefix(std::string_view key) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, key.data(), std::min(key.size(), sizeof(bytes)));
  return __builtin_bswap64(bytes);
}

MergedRecords::MergedRecords(std::vector<SegmentReader> segments)
    : segments_(std::move(segments)) {}

bool MergedRecords::Before(const Head& a, const Head& b) {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  return a.segment->key() < b.segment->key();
}

bool MergedRecords::Next() {
  if (!started_) {
    started_ = true;
    for (SegmentReader& segment : segments_) {
      Head head = {.segment = &segment};
      if (Advance(head)) heap_.push_back(head);
    }
    for (std::size_t place = heap_.size() / 2; place-- > 0;) SiftDown(place);
  } else if (!heap_.empty()) {
    // The record was in use until now, so its segment advances only here.
    if (!Advance(heap_.front())) {
      heap_.front() = heap_.back();
      heap_.pop_back();
    }
    SiftDown(0);
  }
  if (heap_.empty() || !status_.ok()) return false;
  key_ = heap_.front().segment->key();
  value_ = heap_.front().segment->value();
  return true;
}

bool MergedRecords::Advance(Head& head) {
  if (!head.segment->Next()) {
    if (status_.ok()) status_ = head.segment->status();
    return false;
  }
  head.prefix = KeyPrefix(head.segment->key());
  return true;
}

void MergedRecords::SiftDown(std::size_t place) {
  while (true) {
    std::size_t least = 2 * place + 1;
    if (least >= heap_.size()) return;
    if (least + 1 < heap_.size() && Before(heap_[least + 1], heap_[least])) ++least;
    if (!Before(heap_[least], heap_[place])) return;
    std::swap(heap_[place], heap_[least]);
    place = least;
  }
}

}  // namespace tidemark::examples
