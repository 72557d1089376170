// What tasks of different queries take from one another, and the names of those who do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tidemark/explanation.h"

namespace tidemark::blame {

// Numbers of the caller's choice; those of stages index the list of them (stage.h).
enum class Query : std::uint32_t {};
enum class Stage : std::uint32_t {};
// Stands in meetings for what no task reported: other processes, threads beside those of tasks.
inline constexpr Stage kUnreported{UINT32_MAX};
enum class Host : std::uint32_t {};

// Slots that tasks compete for: those of one application, or of a cluster whose scheduler serves
// all.
enum class Pool : std::uint32_t {};

// Where tasks wait for a slot of the pool: a host like others, whose only resource is slots. Hosts
// have numbers below that of the first queue.
inline constexpr std::uint32_t kFirstQueue = 1U << 31;
constexpr Host QueueOf(Pool pool) { return Host{kFirstQueue | static_cast<std::uint32_t>(pool)}; }
constexpr bool IsQueue(Host host) { return static_cast<std::uint32_t>(host) >= kFirstQueue; }

using Resource = WaitedResource;
inline constexpr std::size_t kResourceCount = kWaitedResourceCount;
inline constexpr auto kResources = kWaitedResources;

// "scheduler", "processor", "memory", "network", "io".
std::string_view Name(Resource resource);

// Of one resource. Empty: not known, which is never zero.
struct Use {
  std::optional<double> wait_seconds;
  std::optional<double> units;  // requested and got: slots, bytes, records
  friend bool operator==(const Use&, const Use&) = default;
};

// Of a task, or of a part of its time. Every number is finite and not negative.
struct TaskUse {
  PerResource<Use> of;
  std::optional<double> processor_seconds;
  friend bool operator==(const TaskUse&, const TaskUse&) = default;
};

// Whether a wait for the resource holds the time in which the resource served the task, as the time
// of a fetch or a read does. The wait for a slot, a processor or memory does not.
bool WaitHoldsService(Resource resource);

}  // namespace tidemark::blame
