// The checks of events, whether they come from messages or from this process.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/wire/parse_event.h"
#include "tidemark/event.h"
#include "tidemark/job.h"

namespace tidemark::wire {

// Number of bins of ReduceProfile.bin_indexes, which is six for each octave of 64-bit sizes. It is
// part of the wire contract, and equals the number in streaming/size_histogram.h.
inline constexpr std::size_t kSizeBins = 384;

// Keeps the first fault of an event, so that callers can make several checks without branching
// after each of them. Formats a message only if there is a fault.
class Checks {
 public:
  // `what` is a name for the event, such as "map profile". `whose` may be null and must outlive
  // this object.
  explicit Checks(const char* what, const AttemptId* whose = nullptr)
      : what_(what), whose_(whose) {}

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

  // Stores an InvalidArgument error, which consists of the subject and the formatted fault. Has no
  // effect if a fault is already stored.
  template <typename... Args>
  void Refuse(fmt::format_string<Args...> format, Args&&... args) {
    if (!ok()) return;
    status_ = absl::InvalidArgumentError(
        fmt::format("{}: {}", Subject(), fmt::format(format, std::forward<Args>(args)...)));
  }
  // Rejects an event without an attempt.
  void RefuseWithoutAttempt() {
    if (!ok()) return;
    status_ = absl::InvalidArgumentError(
        fmt::format("{}: attempt is missing; send the task and the attempt", what_));
  }
  void AtMost(const char* field, std::size_t value, std::size_t max) {
    if (value > max) Refuse("{} is {}; send at most {}", field, value, max);
  }
  // Rejects a stage number that is reserved for the master (kExpectedStages or higher).
  void StageIsOfSender(const char* field, std::uint32_t stage) {
    AtMost(field, stage, kExpectedStages - 1);
  }
  void ItemsAtMost(const char* field, std::size_t items, std::size_t max) {
    if (items > max) Refuse("{} {}; send at most {} in one event", items, field, max);
  }
  // Rejects two parallel arrays of different length.
  void SameLength(const char* field, int size, const char* other, int other_size) {
    if (size == other_size) return;
    Refuse("{} {} but {} {}; send one of each for each item", size, field, other_size, other);
  }
  // Like SameLength(), but the other array may be empty.
  void SameLengthOrNone(const char* field, int size, const char* other, int other_size) {
    if (other_size > 0) SameLength(field, size, other, other_size);
  }

 private:
  std::string Subject() const {
    return whose_ == nullptr ? what_ : fmt::format("{} of {}", what_, ToString(*whose_));
  }

  const char* const what_;
  const AttemptId* const whose_;
  absl::Status status_;
};

absl::Status CheckStageCount(std::size_t stages, const EventLimits& limits);

// Checks an event, and makes it equal to the event that its message would contain. Its texts are
// then valid and within the limit, its times are within the range of messages, and its durations
// are whole microseconds.
absl::Status CheckBody(const EventLimits& limits, EventBody& body);

// Returns an error about an event with a known source and sequence number.
absl::Status RefusedEvent(std::uint64_t sequence, const std::string& source_id,
                          const std::string& why);

}  // namespace tidemark::wire
