// What is wrong with an event, in words that say which event it is.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "tidemark/event.h"
#include "tidemark/job.h"

namespace tidemark::wire {

// Keeps the first complaint about one event, so that checks can follow one another without a branch
// after each. Costs nothing as long as nothing is wrong.
class Checks {
 public:
  // `what` is the event in words, "map profile"; `whose` may be null and must outlive this.
  explicit Checks(const char* what, const AttemptId* whose = nullptr)
      : what_(what), whose_(whose) {}

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

  // InvalidArgument: the subject, then the formatted complaint.
  template <typename... Args>
  void Refuse(fmt::format_string<Args...> format, Args&&... args) {
    if (!ok()) return;
    status_ = absl::InvalidArgumentError(
        fmt::format("{}: {}", Subject(), fmt::format(format, std::forward<Args>(args)...)));
  }
  // Nothing says whose the event is.
  void RefuseWithoutAttempt() {
    if (!ok()) return;
    status_ = absl::InvalidArgumentError(
        fmt::format("{}: attempt is missing; say which attempt at which task", what_));
  }
  void AtMost(const char* field, std::size_t value, std::size_t max) {
    if (value > max) Refuse("{} is {}; send at most {}", field, value, max);
  }
  // Numbers from kExpectedStages on are the master's own.
  void StageIsOfSender(const char* field, std::uint32_t stage) {
    AtMost(field, stage, kExpectedStages - 1);
  }
  void ItemsAtMost(const char* field, std::size_t items, std::size_t max) {
    if (items > max) Refuse("{} {}; send at most {} in one event", items, field, max);
  }
  // Of two parallel arrays.
  void SameLength(const char* field, int size, const char* other, int other_size) {
    if (size == other_size) return;
    Refuse("{} {} but {} {}; send one of each for each item", size, field, other_size, other);
  }
  // Of an array that may be left out.
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

}  // namespace tidemark::wire
