// Encodes events in messages. parse_event.h is the inverse, except for arrived_at.
#pragma once

#include "proto/wire/parse_event.h"
#include "tidemark/event.h"

namespace tidemark::v1 {
class Event;
class JobWorkflow;
}  // namespace tidemark::v1

namespace tidemark::wire {

void EncodeJobWorkflow(const JobWorkflow& workflow, v1::JobWorkflow& message);
void EncodeBody(const EventBody& body, v1::Event& message);
ReceivedEvent EncodeEvent(const Event& event);

}  // namespace tidemark::wire
