// The deadline of a job, in one of the forms in which users write it.
//
//   07:30                  wall clock: the first such time after the job began
//   2026-11-26 07:30       wall clock on that day
//   2026-11-26T07:30:00Z   a point in time, with its offset from UTC
//   2h30m, 1d12h           a duration after the job began; a day has 24 h
//
// The first two forms use the time zone of the master's host, including daylight saving time. A job
// has the deadline that its application master states. Otherwise, the first rule in the master's
// settings that matches its name determines the deadline (docs/alerts.md).
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

// A deadline as stated, independent of the start of the job.
struct Deadline {
  // Wall-clock time since midnight, less than 24 h.
  struct TimeOfDay {
    absl::Duration since_midnight;
    friend bool operator==(const TimeOfDay&, const TimeOfDay&) = default;
  };
  // A duration is relative to the start of the job.
  std::variant<absl::Duration, TimeOfDay, absl::CivilSecond, absl::Time> when;
  friend bool operator==(const Deadline&, const Deadline&) = default;
};

// Parses one of the forms above. O(length). Fails with InvalidArgument, whose message lists the
// forms.
absl::StatusOr<Deadline> ParseDeadline(std::string_view text);

// Returns the deadline of a job that began at `start`, with wall-clock times in `zone`. A time that
// the clock skips is interpreted as if the clock had not been changed. If a time without a date
// occurs twice, the first occurrence after the start counts. If a time with a date occurs twice,
// the first occurrence counts.
absl::Time InstantOf(const Deadline& deadline, absl::Time start, const absl::TimeZone& zone);

// A deadline for jobs whose name matches and that state no deadline.
struct DeadlineRule {
  // Pattern of job names, in which * matches any text.
  std::string jobs;
  Deadline deadline;
  friend bool operator==(const DeadlineRule&, const DeadlineRule&) = default;
};

// Parses a rule such as "nightly-*=07:30". Fails with InvalidArgument, whose message describes the
// fault.
absl::StatusOr<DeadlineRule> ParseDeadlineRule(std::string_view text);
// Returns the rule as text.
std::string ToString(const DeadlineRule& rule);

// Returns the deadline of the first rule that matches `name`, or nullopt. O(rules).
std::optional<absl::Time> DeadlineOf(const std::vector<DeadlineRule>& rules,
                                     const std::string& name, absl::Time start,
                                     const absl::TimeZone& zone);

}  // namespace tidemark
