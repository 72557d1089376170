// The input of contention analysis. A piece is a part of an attempt's life with its waits and the
// amounts of resources that it used.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "tidemark/wait_reason.h"

namespace tidemark::waits {

// The caller chooses these numbers. Stage numbers index a list of stages (proto_graph.h).
enum class Query : std::uint32_t {};
enum class Stage : std::uint32_t {};
enum class Host : std::uint32_t {};

// In meetings, this source stands for the processor time that no task reports. Other processes and
// threads outside of tasks use that time.
inline constexpr Stage kUnreported{UINT32_MAX};

// A set of slots for which tasks compete: the slots of one application, or of a cluster with one
// scheduler.
enum class Pool : std::uint32_t {};

// The queue of a pool is treated as a host whose only resource is slots. Hosts must have numbers
// below that of the first queue.
inline constexpr std::uint32_t kFirstQueue = 1U << 31;
constexpr Host QueueOf(Pool pool) { return Host{kFirstQueue | static_cast<std::uint32_t>(pool)}; }
constexpr bool IsQueue(Host host) { return static_cast<std::uint32_t>(host) >= kFirstQueue; }

// The use of one resource. An unset value is unknown, never zero.
struct Use {
  std::optional<double> wait_seconds;
  std::optional<double> units;  // requested and received: slots, bytes, records
  friend bool operator==(const Use&, const Use&) = default;
};

// The use of a task, or of a part of its time. Every number is finite and not negative.
struct TaskUse {
  PerWaitReason<Use> of;
  std::optional<double> processor_seconds;
  friend bool operator==(const TaskUse&, const TaskUse&) = default;
};

// Instants are seconds since an instant that the caller chooses, on one clock for all hosts and
// queries. The caller subtracts the offset of a sender's clock. The remaining offset distorts
// overlaps by as much.
struct Piece {
  Stage stage{};
  // QueueOf(pool) while the task waits for a slot. `use` then has only that wait and the slots
  // that it received.
  Host host{};
  Pool pool{};  // the pool of its slot
  double from = 0;
  double to = 0;
  TaskUse use;
  // In a queue, the number of waiting tasks, whose waits and slots `use` sums.
  double tasks = 1;
  double seconds() const { return to - from; }
  friend bool operator==(const Piece&, const Piece&) = default;
};

// Returns InvalidArgument if a number is not finite, an amount is negative, the piece has no task,
// or it ends before it starts.
absl::Status CheckPiece(const Piece& piece);

// Returns the part of `piece` within [from, to] with its share of the amounts, which are assumed to
// be spread evenly. A piece without length lies within any interval that contains its instant.
// REQUIRES: the two overlap.
Piece Clip(const Piece& piece, double from, double to);

}  // namespace tidemark::waits
