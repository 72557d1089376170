// Counts the messages in a serialized message before it is parsed, since each takes far more memory
// than its two bytes on the wire.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "absl/strings/string_view.h"

namespace tidemark::wire {

// Returns the number of fields at the end of `path` in the serialized message. For example, {7}
// counts its fields 7, and {1, 8} counts the fields 8 of its field 1. All fields on the path are
// messages, texts or bytes. Counting stops at the first unreadable byte. O(bytes).
std::size_t CountFields(absl::string_view message, std::initializer_list<int> path);

// A message that each thread reuses for parsing.
//
// Streams and events are many and mostly small, so each message reuses the memory of the previous
// one. The memory of a large or hostile message is released, since a few bytes on the wire can
// take hundreds in memory.

// A thread must not use two objects of the same type at once.
template <typename Message>
class ReusedMessage {
 public:
  ReusedMessage() = default;
  ~ReusedMessage() {
    if (bytes_ > kSmallBytes && message_.SpaceUsedLong() > kKeptBytes) message_ = {};
  }
  ReusedMessage(const ReusedMessage&) = delete;
  ReusedMessage& operator=(const ReusedMessage&) = delete;

  // Returns false if the bytes are not a valid Message.
  bool Parse(absl::string_view bytes) {
    bytes_ = bytes.size();
    return message_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }
  Message& operator*() const { return message_; }
  Message* operator->() const { return &message_; }

 private:
  // The memory of messages of at least this size on the wire is measured after use.
  static constexpr std::size_t kSmallBytes = 1024;
  static constexpr std::size_t kKeptBytes = std::size_t{256} << 10;

  Message& message_ = OfThread();
  std::size_t bytes_ = 0;

  static Message& OfThread() {
    thread_local Message message;
    return message;
  }
};

}  // namespace tidemark::wire
