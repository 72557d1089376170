// The deadline of a job, as people write it.
//
//   07:30                  wall clock: the first such time after the job began
//   2026-11-26 07:30       wall clock on that day
//   2026-11-26T07:30:00Z   an instant, with its offset from UTC
//   2h30m, 1d12h           a duration after the job began; a day has 24 h
//
// The first two forms use the time zone of the master's host, including daylight saving time. A job
// has the deadline that its application master names, or else the deadline of the first rule in the
// master's settings that matches its name (docs/alerts.md). LateProbability() (tidemark/job.h)
// gives the probability of missing it.
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

// A deadline as stated, which does not depend on the start of the job.
struct Deadline {
  // Wall-clock time since midnight, below 24 h.
  struct TimeOfDay {
    absl::Duration since_midnight;
    friend bool operator==(const TimeOfDay&, const TimeOfDay&) = default;
  };
  // A duration counts from the start of the job.
  std::variant<absl::Duration, TimeOfDay, absl::CivilSecond, absl::Time> when;
  friend bool operator==(const Deadline&, const Deadline&) = default;
};

// Parses one of the forms above. O(length). Fails with InvalidArgument, which lists the forms.
absl::StatusOr<Deadline> ParseDeadline(std::string_view text);

// Returns the deadline of a job that began at `start`, for a wall clock in `zone`. A time that the
// clock skips counts as if the clock had not been changed. If a time occurs twice, the first one
// after the start counts. With a date, the first of the two counts.
absl::Time InstantOf(const Deadline& deadline, absl::Time start, const absl::TimeZone& zone);

// A deadline for matching jobs that state none.
struct DeadlineRule {
  // Pattern of job names; * matches any text.
  std::string jobs;
  Deadline deadline;
  friend bool operator==(const DeadlineRule&, const DeadlineRule&) = default;
};

// Parses "nightly-*=07:30". Fails with InvalidArgument, which names the fault.
absl::StatusOr<DeadlineRule> ParseDeadlineRule(std::string_view text);
// Returns the rule as text.
std::string ToString(const DeadlineRule& rule);

// Returns the deadline of the first rule that matches `name`, or nullopt. O(rules).
std::optional<absl::Time> DeadlineOf(const std::vector<DeadlineRule>& rules,
                                     const std::string& name, absl::Time start,
                                     const absl::TimeZone& zone);

}  // namespace tidemark
