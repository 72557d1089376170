#include "proto/wire/watch_response.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "tidemark/v1/job.pb.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire {
namespace {

using google::protobuf::internal::WireFormatLite;
using Input = google::protobuf::io::CodedInputStream;

constexpr std::uint32_t TagOf(int field, WireFormatLite::WireType type) {
  return WireFormatLite::MakeTag(field, type);
}

// Reads the snapshot, whose size comes next, for its base_sequence alone.
bool ReadBaseSequence(Input& input, std::uint64_t& base_sequence) {
  int bytes = 0;
  if (!input.ReadVarintSizeAsInt(&bytes) || bytes > input.BytesUntilLimit()) return false;
  const Input::Limit limit = input.PushLimit(bytes);
  while (const std::uint32_t tag = input.ReadTag()) {
    const bool is_base =
        tag == TagOf(v1::Snapshot::kBaseSequenceFieldNumber, WireFormatLite::WIRETYPE_VARINT);
    const bool is_read =
        is_base ? input.ReadVarint64(&base_sequence) : WireFormatLite::SkipField(&input, tag);
    if (!is_read) return false;
  }
  const bool is_whole = input.ConsumedEntireMessage() && input.BytesUntilLimit() == 0;
  input.PopLimit(limit);
  return is_whole;
}

bool ReadField(std::uint32_t tag, Input& input, WatchResponseHead& head) {
  using Response = v1::WatchJobResponse;
  switch (tag) {
    case TagOf(Response::kSnapshotFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED):
      return ReadBaseSequence(input, head.base_sequence);
    case TagOf(Response::kSkippedSnapshotsFieldNumber, WireFormatLite::WIRETYPE_VARINT):
      return input.ReadVarint64(&head.skipped_snapshots);
    case TagOf(Response::kResumeTokenFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED):
      return WireFormatLite::ReadString(&input, &head.resume_token);
    case TagOf(Response::kRestartedFieldNumber, WireFormatLite::WIRETYPE_VARINT): {
      std::uint64_t restarted = 0;
      if (!input.ReadVarint64(&restarted)) return false;
      head.restarted = restarted != 0;
      return true;
    }
    default:
      return WireFormatLite::SkipField(&input, tag);
  }
}

}  // namespace

std::optional<WatchResponseHead> ReadWatchResponseHead(absl::string_view response) {
  Input input(reinterpret_cast<const std::uint8_t*>(response.data()),
              static_cast<int>(response.size()));
  WatchResponseHead head;
  while (const std::uint32_t tag = input.ReadTag()) {
    if (!ReadField(tag, input, head)) return std::nullopt;
  }
  if (!input.ConsumedEntireMessage()) return std::nullopt;
  return head;
}

}  // namespace tidemark::wire
