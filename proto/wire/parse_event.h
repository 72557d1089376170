// Parses and checks events from the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::v1 {
class Event;
class JobWorkflow;
}  // namespace tidemark::v1

namespace tidemark::wire {

struct EventLimits {
  // maximum length of job IDs and signatures; source and run IDs may have half of this length
  std::size_t id_bytes_max = 256;
  std::size_t text_bytes_max = 4096;  // maximum length of names and messages; longer texts are cut
  std::uint32_t task_index_max = 1'000'000;
  std::uint32_t partitions_max = 1'000'000;
  std::size_t array_items_max = 1'000'000;
  std::size_t stages_max = 10'000;  // maximum number in one JobOpened
  std::size_t parameters_max = 64;
  // maximum length of a parameter's name or value; longer texts are cut
  std::size_t parameter_bytes_max = 1024;
  std::size_t workflow_nodes_max = 1000;
  std::size_t workflow_edges_max = 10'000;
  // maximum lengths of a workflow's name and of a node; longer texts are cut. The master builds
  // names of at most 256 bytes from both.
  std::size_t workflow_name_bytes_max = 128;
  std::size_t workflow_node_bytes_max = 96;
};

// An event as received, with the values that its stream or log states about the event. Not
// validated.
struct ReceivedEvent {
  std::string job_id;
  std::string run_uid;
  std::string source_id;
  std::uint64_t sequence = 0;
  std::optional<absl::Time> sent_at;
  std::uint64_t dropped_events = 0;
  std::string body;  // a serialized v1::Event
};

// Parses an event. Fails with InvalidArgument if a field is missing, out of range or of the wrong
// length. The message contains the field, its value and a correction. An event that only a newer
// version defines becomes an UnknownEvent. Durations outside the range are clamped. NaN, infinite
// and negative sums are rejected. This function does not compare events with each other.
absl::StatusOr<Event> ParseEvent(const ReceivedEvent& received, absl::Time arrived_at,
                                 const EventLimits& limits = {});
// Parses only the body of an event.
absl::StatusOr<EventBody> ParseBody(const v1::Event& untrusted, const EventLimits& limits = {});

// Checks an event that was created in this process and never encoded. Returns the event that
// ParseEvent() would return for its encoding, but does not round durations to nanoseconds. Fails
// with InvalidArgument if ParseEvent() would reject the event. Takes O(n log n) for n items in the
// event.
absl::StatusOr<Event> CheckEvent(const Event& event, absl::Time arrived_at,
                                 const EventLimits& limits = {});

// Parses a workflow without the checks of an event.
JobWorkflow ParseJobWorkflow(const v1::JobWorkflow& untrusted);

// Checks the IDs of a new source. Fails with InvalidArgument, which names the wrong ID.
absl::Status CheckSource(const ReceivedEvent& received, const EventLimits& limits = {});
// Checks the lengths of the IDs and the sequence number of the event, which may be that of a log.
absl::Status CheckPlace(const ReceivedEvent& received, const EventLimits& limits = {});

}  // namespace tidemark::wire
