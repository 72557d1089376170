// From an envelope off the network to an event that may be folded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::v1 {
class Envelope;
}

namespace tidemark::wire {

// Bounds on what one envelope may hold.
struct EnvelopeLimits {
  std::size_t id_bytes_max = 256;     // job ids; half of it for ids of sources and runs
  std::size_t text_bytes_max = 4096;  // names and messages; longer ones are cut
  std::uint32_t task_index_max = 1'000'000;
  std::uint32_t partitions_max = 1'000'000;
  std::size_t array_items_max = 1'000'000;
};

// InvalidArgument names the field that is missing, out of range or of the wrong length, its value
// and what to send instead. Unimplemented: the envelope holds an event of a newer version.
// Durations too large for our types saturate; NaN, infinite and negative sums are refused. What an
// event says is only held against itself, never against other events: that is the fold's part.
absl::StatusOr<Event> ParseEvent(const v1::Envelope& untrusted, absl::Time arrived_at,
                                 const EnvelopeLimits& limits = {});

// Whether the envelope tells whose it is and where it belongs in what its source sends, be the rest
// an event or not.
bool HasPlace(const v1::Envelope& untrusted, const EnvelopeLimits& limits = {});

}  // namespace tidemark::wire
