// Ids and states of task attempts to their messages (tidemark/v1/event.proto).
#pragma once

#include "tidemark/event.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {

v1::AttemptState EncodeAttemptState(AttemptState state);
void EncodeAttemptId(const AttemptId& id, v1::TaskAttemptId& message);

}  // namespace tidemark::wire
