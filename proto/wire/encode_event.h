// Encodes events to messages: the inverse of parse_event.h, but for arrived_at.
#pragma once

#include <cstdint>

#include "proto/wire/parse_event.h"
#include "tidemark/event.h"

namespace tidemark::v1 {
class Event;
class StreamEventsRequest;
}  // namespace tidemark::v1

namespace tidemark::wire {

void EncodeBody(const EventBody& body, v1::Event& message);
ReceivedEvent EncodeEvent(const Event& event);
// Encodes a batch of this event alone, which opens its source under `handle`.
void EncodeRequest(const Event& event, v1::StreamEventsRequest& request, std::uint32_t handle = 0);

}  // namespace tidemark::wire
