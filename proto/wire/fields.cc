#include "proto/wire/fields.h"

#include <fmt/format.h>

namespace tidemark::wire {

std::string ReaderState::Path() const {
  std::string text;
  for (const auto& [field, index] : path) {
    if (!text.empty()) text += '.';
    text += field->name();
    if (index >= 0) text += fmt::format("[{}]", index);
  }
  return text;
}

void FieldReader::FailNumber(const char* wanted, double value) {
  state_.Fail(fmt::format("must be {}, not {:.12g}", wanted, value));
}

void FieldReader::ParseFrom(const google::protobuf::Message& message, absl::Duration& value) {
  const auto& read = static_cast<const google::protobuf::Duration&>(message);
  if (const auto parsed = ParseElapsed(read, ""); parsed.ok()) {
    value = *parsed;
  } else {
    state_.Fail(fmt::format("must be from 0 to 315576000000 s, not {} s and {} ns", read.seconds(),
                            read.nanos()));
  }
}

void FieldReader::ParseFrom(const google::protobuf::Message& message, absl::Time& value) {
  const auto& read = static_cast<const google::protobuf::Timestamp&>(message);
  if (const auto parsed = ParseTime(read, ""); parsed.ok()) {
    value = *parsed;
  } else {
    state_.Fail(
        fmt::format("must be from year 1 to year 9999 with 0 to 999999999 ns, not {} s and {} ns",
                    read.seconds(), read.nanos()));
  }
}

}  // namespace tidemark::wire
