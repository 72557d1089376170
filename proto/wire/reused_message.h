// A message of each thread, to parse one after the other into.
//
// Streams and events are many, and mostly small: the next one finds the memory of the last. What a
// large or hostile one took is given back, whatever became of it: a few bytes on the wire can be
// hundreds in memory.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace tidemark::wire {

// Not to be nested with another of the same type on one thread.
template <typename Message>
class ReusedMessage {
 public:
  ReusedMessage() = default;
  ~ReusedMessage() {
    if (bytes_ > kSmallBytes && message_.SpaceUsedLong() > kKeptBytes) message_ = {};
  }
  ReusedMessage(const ReusedMessage&) = delete;
  ReusedMessage& operator=(const ReusedMessage&) = delete;

  // False if it is no such message.
  bool Parse(absl::string_view bytes) {
    bytes_ = bytes.size();
    return message_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }
  Message& operator*() const { return message_; }
  Message* operator->() const { return &message_; }

 private:
  // From that size on, on the wire, it is worth asking how much it takes.
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
