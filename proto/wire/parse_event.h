// From an event off the network to one that may be folded.
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

// Bounds on what one event may hold.
struct EventLimits {
  std::size_t id_bytes_max = 256;     // job ids and signatures; half of it for sources and runs
  std::size_t text_bytes_max = 4096;  // names and messages; longer ones are cut
  std::uint32_t task_index_max = 1'000'000;
  std::uint32_t partitions_max = 1'000'000;
  std::size_t array_items_max = 1'000'000;
  std::size_t stages_max = 10'000;  // in one JobOpened
  std::size_t parameters_max = 64;
  std::size_t parameter_bytes_max = 1024;  // of a name or a value; longer ones are cut
};

// An event as it came, with what its stream or log says of it. Nothing is checked.
struct ReceivedEvent {
  std::string job_id;
  std::string run_uid;
  std::string source_id;
  std::uint64_t sequence = 0;
  std::optional<absl::Time> sent_at;
  std::uint64_t dropped_events = 0;
  std::string body;  // a serialized v1::Event
};

// InvalidArgument names the field that is missing, out of range or of the wrong length, its value
// and what to send instead. What a newer sender says and this version does not know is no error but
// an UnknownEvent. Durations too large for our types saturate; NaN, infinite and negative sums are
// refused. What an event says is only held against itself, never against other events: that is the
// fold's part.
absl::StatusOr<Event> ParseEvent(const ReceivedEvent& received, absl::Time arrived_at,
                                 const EventLimits& limits = {});
// The same of what happened alone.
absl::StatusOr<EventBody> ParseBody(const v1::Event& untrusted, const EventLimits& limits = {});

// OK if it says whose it is: InvalidArgument names the id that is missing or too long.
absl::Status CheckSource(const ReceivedEvent& received, const EventLimits& limits = {});
// And where it belongs in what its source sends.
absl::Status CheckPlace(const ReceivedEvent& received, const EventLimits& limits = {});

}  // namespace tidemark::wire
