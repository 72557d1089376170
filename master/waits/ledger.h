// Sums over past pieces, by stage and host, and by pairs of stages that met on a host. Their size
// does not depend on the number of tasks.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "tidemark/wait_reason.h"

namespace tidemark::waits {

// The input of contention analysis. A piece is a part of an attempt's life, with the waits and the
// amounts of resources used in it.

// The caller chooses these numbers. Stage numbers index a list of stages (proto_graph.h).
enum class Query : std::uint32_t {};
enum class Stage : std::uint32_t {};
enum class Host : std::uint32_t {};

// In meetings, this source represents processor time that no task reports. Other processes, and
// threads outside tasks, use that time.
inline constexpr Stage kUnreported{UINT32_MAX};

// A set of slots for which tasks compete: the slots of one application, or of a cluster with one
// scheduler.
enum class Pool : std::uint32_t {};

// The queue of a pool is treated as a host whose only resource is slots. Host numbers must be
// less than kFirstQueue.
inline constexpr std::uint32_t kFirstQueue = 1U << 31;
constexpr Host QueueOf(Pool pool) { return Host{kFirstQueue | static_cast<std::uint32_t>(pool)}; }
constexpr bool IsQueue(Host host) { return static_cast<std::uint32_t>(host) >= kFirstQueue; }

// The use of one resource. An unset value is unknown, and never zero.
struct Use {
  std::optional<double> wait_seconds;
  std::optional<double> units;  // requested and received units: slots, bytes, records
  friend bool operator==(const Use&, const Use&) = default;
};

// The resource use of a task, or of a part of its time. Every number is finite and not negative.
struct TaskUse {
  PerWaitReason<Use> of;
  std::optional<double> processor_seconds;
  friend bool operator==(const TaskUse&, const TaskUse&) = default;
};

// Times are seconds since a time that the caller chooses, on one clock for all hosts and queries.
// The caller subtracts the offset of a sender's clock. The remaining offset distorts overlaps by as
// much.
struct Piece {
  Stage stage{};
  // QueueOf(pool) while the task waits for a slot. `use` then contains only that wait and the slots
  // received.
  Host host{};
  Pool pool{};  // pool of the task's slot
  double from = 0;
  double to = 0;
  TaskUse use;
  // In a queue, the number of waiting tasks. `use` sums their waits and slots.
  double tasks = 1;
  double seconds() const { return to - from; }
  friend bool operator==(const Piece&, const Piece&) = default;
};

// Returns InvalidArgument if a number is not finite, an amount is negative, the piece has no task,
// or it ends before it starts.
absl::Status CheckPiece(const Piece& piece);

// Returns the part of `piece` within [from, to] with its share of the amounts, which are assumed to
// be spread evenly. A piece of zero length lies within any interval that contains its time.
// REQUIRES: the two overlap.
Piece Clip(const Piece& piece, double from, double to);

// Sums over the time in which tasks of a stage waited on a host for a resource whose waits include
// service. At each time, the tasks receive w units per second, each after y seconds of waiting, in
// a crowd of c. The crowd is one task plus the number of seconds that all other tasks on the host
// wait per second. An unknown wait with known units counts as zero.
struct Crowding {
  double seconds = 0;
  double units = 0;            // sum of w
  double wait_seconds = 0;     // w y
  double waits_squared = 0;    // w y^2
  double crowds_squared = 0;   // w c^2
  double waits_by_crowds = 0;  // w y c

  // Adds an interval of `for_seconds` in which the tasks wait `wait_rate` seconds and receive
  // `unit_rate` units per second. REQUIRES: all are positive; crowd >= 1.
  void Pass(double for_seconds, double wait_rate, double unit_rate, double crowd);
  Crowding& operator+=(const Crowding& other);
};

// Returns the seconds that a unit would take without neighbours, for a stage that always had
// neighbours.
//
// If a resource serves its tasks evenly, y = s c, and least squares give s = sum of w y c / sum of
// w c^2. Returns nullopt unless, with normal errors, the waits are at least 20 times as likely
// under this line as under a constant time:
//   (seconds / 10 - 1) ln(squared errors of the constant / of the line) >= 2 ln 20
// Therefore the result is nullopt if the crowd never changed, or if the wait did not follow the
// crowd.
std::optional<double> ServiceSeconds(const Crowding& crowding);

// The waits of a stage's tasks on a host for one resource.
struct Waited {
  double wait_seconds = 0;
  double stage_seconds = 0;     // waits, each weighted by the task's share of its stage
  double measured_seconds = 0;  // time of the tasks for which the wait is known
  // Sums over the pieces whose wait and units are both known.
  double rated_wait_seconds = 0;
  double rated_units = 0;
  // The least wait for a unit in a piece that mostly waited for this resource. It is at least as
  // long as a unit takes without neighbours. 0 if there is no such piece.
  double least_seconds_per_unit = 0;
};

// Returns the number of reasons before `reason` whose waits include service.
constexpr std::size_t ServiceIndex(WaitReason reason) {
  std::size_t index = 0;
  for (const WaitReasonInfo& info : kWaitReasonTable) {
    if (info.reason == reason) break;
    if (info.includes_service) ++index;
  }
  return index;
}
inline constexpr std::size_t kServiceReasons =
    ServiceIndex(kWaitReasons.back()) + (kWaitReasonTable.back().includes_service ? 1 : 0);

// The tasks of a stage on a host, or in a queue.
struct StageOnHost {
  double seconds = 0;        // summed over tasks
  double stage_seconds = 0;  // summed over all hosts, it is the time in which any task ran
  double processor_seconds = 0;
  double processor_measured_seconds = 0;
  PerWaitReason<Waited> waited;
  // Set by a sweep, in the order of reasons whose waits include service.
  std::array<Crowding, kServiceReasons> crowdings;
  // REQUIRES: InfoOf(reason).includes_service.
  const Crowding& crowding(WaitReason reason) const { return crowdings[ServiceIndex(reason)]; }
  Crowding& crowding(WaitReason reason) { return crowdings[ServiceIndex(reason)]; }
};

// A waiting stage, and a stage that was on the same host at the time, possibly the same stage.
struct Meeting {
  // Summed over pairs of different tasks; in a queue, over the waiting tasks.
  double overlap_seconds = 0;
  // The part of the target's wait that is attributed to the source. At every time, the waits are
  // divided by the amounts of the resource that other tasks use, including other tasks of the
  // target. The amounts are processor seconds for a processor, held slots for slots, and otherwise
  // units.
  //
  // The wait for a processor is attributed only up to the processor time of other tasks. The excess
  // goes to kUnreported, which has no other sums.
  //
  // The wait for slots is counted in slots that the stage lacked, not in queued tasks, since the
  // stage lost no more slots than other stages held.
  PerWaitReason<double> wait_seconds;
  // The target's own units, divided like the waits.
  PerWaitReason<double> units;
};

struct StageSpan {
  double from = 0;
  double to = 0;
  double seconds() const { return to - from; }
};

struct StageHost {
  Stage stage{};
  Host host{};
  friend auto operator<=>(const StageHost&, const StageHost&) = default;
};

struct MeetingKey {
  Stage target{};
  Host host{};
  Stage source{};
  friend auto operator<=>(const MeetingKey&, const MeetingKey&) = default;
};

// Memory: O(hosts x stages that met there).
struct Ledger {
  absl::btree_map<StageHost, StageOnHost> stages;
  absl::btree_map<MeetingKey, Meeting> meetings;
  absl::btree_map<Stage, StageSpan> spans;  // only of tasks that have a slot

  // Adds the sums of the piece, but no meetings, which a sweep adds. `share` is the task's share
  // of its stage during that time (StageShares). If unset, the share of earlier pieces applies, or
  // 1 for the first piece.
  void Add(const Piece& piece, std::optional<double> share = std::nullopt);

  // Adds all sums of `other`. O(m log n) for m sums of `other`, and n sums in both.
  void Merge(const Ledger& other);

  // Adds the sums of `other` whose target is `target`. O(m log n) for m such sums, and n in both.
  void MergeTarget(const Ledger& other, Stage target);

  // Adds the sums of `other` for this stage on this host, without meetings. O(log n) for n sums.
  void MergeStage(const Ledger& other, const StageHost& of);

  // Removes these stages as targets. Attributes waits that they caused to `instead` from now on.
  // O(n log n) for n sums.
  void Forget(const absl::flat_hash_set<Stage>& gone, Stage instead);
};

}  // namespace tidemark::waits
