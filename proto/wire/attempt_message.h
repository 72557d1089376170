// Ids and states of task attempts to their messages (tidemark/v1/event.proto).
#pragma once

#include <optional>

#include "tidemark/event.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {

v1::AttemptState EncodeAttemptState(AttemptState state);
// Empty: not said, or not of this version.
std::optional<AttemptState> DecodeAttemptState(v1::AttemptState state);
void EncodeAttemptId(const AttemptId& id, v1::TaskAttemptId& message);
AttemptId DecodeAttemptId(const v1::TaskAttemptId& message);

}  // namespace tidemark::wire
