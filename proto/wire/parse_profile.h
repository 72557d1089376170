// The two profiles of ParseBody(): what map and reduce tasks say about their key groups.
#pragma once

#include "absl/status/statusor.h"
#include "proto/wire/checks.h"
#include "proto/wire/parse_event.h"
#include "tidemark/event.h"

namespace tidemark::v1 {
class MapProfile;
class ReduceProfile;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Whose `event` is. What is wrong with that is left in `check`.
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
