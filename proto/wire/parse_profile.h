// Parses the profiles of map and reduce tasks for ParseBody(), and the checks that all events
// share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/wire/parse_event.h"
#include "tidemark/event.h"
#include "tidemark/job.h"

namespace tidemark::v1 {
class MapProfile;
class ReduceProfile;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Bins of ReduceProfile.bin_indexes: six for each octave of 64-bit sizes. The number is part of the
// wire contract, as it is in streaming/size_histogram.h.
inline constexpr std::size_t kSizeBins = 384;

// Collects the first fault of an event, so that checks can follow one another without a branch
// after each. It has no cost without a fault.

class Checks {
 public:
  // `what` names the event, such as "map profile"; `whose` may be null and must outlive this.
  explicit Checks(const char* what, const AttemptId* whose = nullptr)
      : what_(what), whose_(whose) {}

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

  // Sets InvalidArgument: the subject, then the formatted fault.
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
  // Numbers from kExpectedStages on are reserved for the master.
  void StageIsOfSender(const char* field, std::uint32_t stage) {
    AtMost(field, stage, kExpectedStages - 1);
  }
  void ItemsAtMost(const char* field, std::size_t items, std::size_t max) {
    if (items > max) Refuse("{} {}; send at most {} in one event", items, field, max);
  }
  // Compares two parallel arrays.
  void SameLength(const char* field, int size, const char* other, int other_size) {
    if (size == other_size) return;
    Refuse("{} {} but {} {}; send one of each for each item", size, field, other_size, other);
  }
  // Does the same for an optional array.
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

// Returns the attempt of `event`. Sets the fault in `check`.
template <typename Message>
AttemptId ParseAttempt(const Message& event, const EventLimits& limits, Checks& check) {
  AttemptId id;
  if (!event.has_attempt()) {
    check.RefuseWithoutAttempt();
    return id;
  }
  id.stage = event.attempt().stage();
  id.stage_attempt = event.attempt().stage_attempt();
  id.index = event.attempt().index();
  id.attempt = event.attempt().attempt();
  check.StageIsOfSender("attempt.stage", id.stage);
  check.AtMost("attempt.index", id.index, limits.task_index_max);
  return id;
}

absl::StatusOr<EventBody> ParseMapProfile(const v1::MapProfile& untrusted,
                                          const EventLimits& limits);
absl::StatusOr<EventBody> ParseReduceProfile(const v1::ReduceProfile& untrusted,
                                             const EventLimits& limits);

}  // namespace tidemark::wire
