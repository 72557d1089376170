// Encodes batches in the same way as agents.
#pragma once

#include <cstdint>

#include "proto/wire/encode_event.h"
#include "tidemark/event.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::wire {

// Encodes a batch that contains only this event and opens its source under `handle`.
inline void EncodeRequest(const Event& event, v1::StreamEventsRequest& request,
                          std::uint32_t handle = 0) {
  request.Clear();
  v1::Source& source = *request.add_sources();
  source.set_handle(handle);
  source.set_source_id(event.source_id);
  source.set_job_id(event.job_id);
  source.set_run_uid(event.run_uid);
  request.set_handle(handle);
  request.set_first_sequence(event.sequence);
  request.set_sent_at(absl::ToUnixNanos(event.sent_at));
  request.set_dropped_events(event.dropped_events);
  EncodeBody(event.body, *request.add_events());
}

}  // namespace tidemark::wire
