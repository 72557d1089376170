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
}

namespace tidemark::wire {

// Limits of one event.
struct EventLimits {
  // limit of job IDs and signatures; source and run IDs may have half of it
  std::size_t id_bytes_max = 256;
  std::size_t text_bytes_max = 4096;  // limit of names and messages; longer ones are cut
  std::uint32_t task_index_max = 1'000'000;
  std::uint32_t partitions_max = 1'000'000;
  std::size_t array_items_max = 1'000'000;
  std::size_t stages_max = 10'000;  // limit in one JobOpened
  std::size_t parameters_max = 64;
  std::size_t parameter_bytes_max = 1024;  // limit of a name or a value; longer ones are cut
};

// An event as received, with the values that its stream or log states about it. Not validated.
struct ReceivedEvent {
  std::string job_id;
  std::string run_uid;
  std::string source_id;
  std::uint64_t sequence = 0;
  std::optional<absl::Time> sent_at;
  std::uint64_t dropped_events = 0;
  std::string body;  // a serialized v1::Event
};

// Fails with InvalidArgument, which names the field that is missing, out of range or of the wrong
// length, its value and the correction. An event of a newer version becomes an UnknownEvent.
// Durations outside of the range are clamped; NaN, infinite and negative sums are rejected. The
// fold, not this function, compares events with each other.
absl::StatusOr<Event> ParseEvent(const ReceivedEvent& received, absl::Time arrived_at,
                                 const EventLimits& limits = {});
// Parses only the body.
absl::StatusOr<EventBody> ParseBody(const v1::Event& untrusted, const EventLimits& limits = {});

// Checks an event that was made in this process and never encoded. Returns the event that
// ParseEvent() would return for its encoding, but does not round durations to nanoseconds. Fails
// with InvalidArgument if ParseEvent() would reject it. O(n log n) for n items of the event.
absl::StatusOr<Event> CheckEvent(const Event& event, absl::Time arrived_at,
                                 const EventLimits& limits = {});

// Checks the IDs of the event. Fails with InvalidArgument, which names the ID that is missing or
// too long.
absl::Status CheckSource(const ReceivedEvent& received, const EventLimits& limits = {});
// Checks the IDs and the sequence number of the event.
absl::Status CheckPlace(const ReceivedEvent& received, const EventLimits& limits = {});

}  // namespace tidemark::wire
