// The two profiles of ParseEvent(): what map and reduce tasks say about their key groups.
#pragma once

#include "absl/status/statusor.h"
#include "proto/wire/parse_event.h"
#include "tidemark/event.h"

namespace tidemark::v1 {
class MapProfile;
class ReduceProfile;
class TaskAttemptId;
}  // namespace tidemark::v1

namespace tidemark::wire {

// `subject` names the event in errors: "map profile".
absl::StatusOr<AttemptId> ParseAttempt(const v1::TaskAttemptId& untrusted, const char* subject,
                                       const EnvelopeLimits& limits);

absl::StatusOr<MapProfile> ParseMapProfile(const v1::MapProfile& untrusted,
                                           const EnvelopeLimits& limits);
absl::StatusOr<ReduceProfile> ParseReduceProfile(const v1::ReduceProfile& untrusted,
                                                 const EnvelopeLimits& limits);

}  // namespace tidemark::wire
