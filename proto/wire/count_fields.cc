#include "proto/wire/count_fields.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>

#include "absl/types/span.h"

namespace tidemark::wire {

namespace {

using google::protobuf::internal::WireFormatLite;

std::size_t Count(absl::string_view message, absl::Span<const int> path) {
  google::protobuf::io::CodedInputStream fields(
      reinterpret_cast<const std::uint8_t*>(message.data()), static_cast<int>(message.size()));
  std::size_t count = 0;
  while (const std::uint32_t tag = fields.ReadTag()) {
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&fields, tag)) break;
      continue;
    }
    std::uint32_t bytes = 0;
    if (!fields.ReadVarint32(&bytes)) break;
    const auto at = static_cast<std::size_t>(fields.CurrentPosition());
    if (bytes > message.size() - at) break;
    if (WireFormatLite::GetTagFieldNumber(tag) == path.front()) {
      count += path.size() == 1 ? 1 : Count(message.substr(at, bytes), path.subspan(1));
    }
    fields.Skip(static_cast<int>(bytes));
  }
  return count;
}

}  // namespace

std::size_t CountFields(absl::string_view message, std::initializer_list<int> path) {
  return Count(message, absl::MakeConstSpan(path.begin(), path.size()));
}

}  // namespace tidemark::wire
