// When a job has to have ended, as people say it.
//
//   07:30                  by the clock on the wall: the first time after the job began
//   2026-11-26 07:30       likewise, on that day
//   2026-11-26T07:30:00Z   an instant, with its offset from UTC
//   2h30m                  so long after the job began
//
// Values and pure functions; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace tidemark {

struct Deadline {
  // Since midnight, below 24 h.
  struct TimeOfDay {
    absl::Duration since_midnight;
    friend bool operator==(const TimeOfDay&, const TimeOfDay&) = default;
  };
  // A duration counts from the beginning of the job.
  std::variant<absl::Duration, TimeOfDay, absl::CivilSecond, absl::Time> when;
  friend bool operator==(const Deadline&, const Deadline&) = default;
};

// InvalidArgument: what may be said instead.
absl::StatusOr<Deadline> ParseDeadline(std::string_view text);

// When that is for a job that began at `start`, where the clocks show the time of `zone`.
absl::Time InstantOf(const Deadline& deadline, absl::Time start, const absl::TimeZone& zone);

// The deadline of jobs that have none of their own.
struct DeadlineRule {
  // Names of jobs; * stands for any text.
  std::string jobs;
  Deadline deadline;
  friend bool operator==(const DeadlineRule&, const DeadlineRule&) = default;
};

// "nightly-*=07:30". InvalidArgument: what was wrong.
absl::StatusOr<DeadlineRule> ParseDeadlineRule(std::string_view text);
// The same rule as text.
std::string ToString(const DeadlineRule& rule);

// That of the first rule for jobs called `name`; empty: there is none. O(rules).
std::optional<absl::Time> DeadlineOf(const std::vector<DeadlineRule>& rules,
                                     const std::string& name, absl::Time start,
                                     const absl::TimeZone& zone);

}  // namespace tidemark
