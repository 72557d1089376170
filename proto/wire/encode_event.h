// From an event to its envelope: the inverse of ParseEvent, but for arrived_at.
#pragma once

#include "tidemark/event.h"

namespace tidemark::v1 {
class Envelope;
}

namespace tidemark::wire {

void EncodeEvent(const Event& event, v1::Envelope& envelope);

}  // namespace tidemark::wire
