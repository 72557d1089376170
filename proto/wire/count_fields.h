// Counts the messages within a serialized message before it is parsed, since a parsed message takes
// far more memory than its two bytes in serialized form.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "absl/strings/string_view.h"

namespace tidemark::wire {

// Returns the number of fields at the end of `path` in the serialized message. For example, {7}
// counts its fields 7, and {1, 8} counts the fields 8 of its field 1. All fields on the path must
// be messages, strings or bytes. Counting stops at the first unreadable byte. O(bytes).
std::size_t CountFields(absl::string_view message, std::initializer_list<int> path);

// A message that each thread reuses for parsing.
//
// Streams have many events, most of which are small, so each message reuses the memory of the
// previous one. The memory of a large or hostile message is released, since a few serialized bytes
// can take hundreds of bytes in memory.

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

  bool Parse(absl::string_view bytes) {
    bytes_ = bytes.size();
    return message_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }
  Message& operator*() const { return message_; }
  Message* operator->() const { return &message_; }

 private:
  // Memory use is measured after messages of at least this serialized size.
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
