// When a job has to have ended, as people say it.
//
//   07:30                  by the clock on the wall: the first time after the job began
//   2026-11-26 07:30       likewise, on that day
//   2026-11-26T07:30:00Z   an instant, with its offset from UTC
//   2h30m, 1d12h           so long after the job began; days are whole and of 24 h
//
// The first two are of the clocks where the master runs, daylight saving time included; the others
// mean the same everywhere. A job takes the deadline that its application master names, else that
// of the first rule of the master's settings that fits its name (docs/alerts.md). How likely it is
// missed is LateProbability() (tidemark/job.h).
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

// As somebody wrote it, before it is known when the job begins.
struct Deadline {
  // By the clock on the wall. Since midnight, below 24 h.
  struct TimeOfDay {
    absl::Duration since_midnight;
    friend bool operator==(const TimeOfDay&, const TimeOfDay&) = default;
  };
  // A duration counts from the beginning of the job.
  std::variant<absl::Duration, TimeOfDay, absl::CivilSecond, absl::Time> when;
  friend bool operator==(const Deadline&, const Deadline&) = default;
};

// Of one of the forms above. O(length). InvalidArgument: what may be said
// instead.
absl::StatusOr<Deadline> ParseDeadline(std::string_view text);

// When that is for a job that began at `start`, where the clocks show the time of `zone`. A time
// that they leave out when they are set forward is as if they had not been. Of one that they show
// twice when they are set back the next after the start counts, with a date the first.
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
