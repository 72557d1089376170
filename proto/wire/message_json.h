// Writes messages as single-line JSON in ASCII: protobuf's JSON mapping with the field names of the
// .proto file. The presence of a field depends on its type:
//
//   number, bool, enum, string, bytes   always present
//   `optional` or `oneof` field         present if it is set
//   message                             present if it is set
//   repeated field, map                 always present, [] or {} if it is empty
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace tidemark::wire {

// Returns `message` as JSON. Replaces bytes that are not part of a UTF-8 character by U+FFFD. Equal
// messages without maps give equal text. O(size of the message).
std::string MessageJson(const google::protobuf::Message& message);

}  // namespace tidemark::wire
