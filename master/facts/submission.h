// When a job says it was submitted, if that can be true. Pure.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::model {

// No job runs longer; durations show no more, either.
inline constexpr absl::Duration kLongestRun = absl::Hours(999 * 24);

// By the sender's clock. Empty: not told, or further from `sent_at` than a job runs, as where a
// sender that does not know says 0.
inline std::optional<absl::Time> SubmittedAt(const JobOpened& opened, absl::Time sent_at) {
  if (!opened.submitted_at) return std::nullopt;
  const bool is_absurd = absl::AbsDuration(sent_at - *opened.submitted_at) > kLongestRun;
  return is_absurd ? std::nullopt : opened.submitted_at;
}

}  // namespace tidemark::model
