// Splits the resources of a node among the tasks that run on it ([BOE] 4.2.2).
//
// A sub-stage of a task streams through its resources, so the scarcest of them sets its rate. The
// paper only requires that the shares of a bottleneck add up to one. Here a scarce resource
// stretches the time of every task that uses it by the same factor, so it is split max-min fairly
// in time. The other tasks divide the share that a task cannot use because of another limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemark::placement {

enum class Resource : std::uint8_t { kCpu, kDiskRead, kDiskWrite, kDfsRead, kDfsWrite, kNetwork };
inline constexpr std::size_t kResources = 6;

// Seconds of each resource that one unit of work needs. A resource is one core, or a node's whole
// disk or network.
using Needs = std::array<double, kResources>;

// A part of a task's work with constant needs. Values are per second of the task's time alone on a
// node.
struct TaskPart {
  Needs needs = {};
  // Minimum time, if no resource is scarce. The times of a task's parts add up to one second.
  double seconds = 0;
  // 1 if the task uses all resources at the same time, as in the paper; 0 if it uses one after the
  // other. Between, this share of the shorter uses overlaps the longest one.
  double overlap = 1;
};

// The parts of a task, in order.
using TaskDemand = std::vector<TaskPart>;

struct NodeSharer {
  TaskPart part;
  double tasks = 0;  // number of concurrent tasks
};

struct PartRate {
  double per_second = 0;  // units of work per second; infinite if the part needs nothing
  Resource bottleneck = Resource::kCpu;  // kCpu if no resource is scarce
};

// Returns the rate of each sharer on `nodes` identical nodes with `cores` cores in total. REQUIRES:
// needs and numbers are finite and not negative. O(rounds x resources x steps x sharers), with at
// most 100 rounds, and at most 62 steps for a scarce resource.
std::vector<PartRate> ShareNode(double cores, double nodes, std::span<const NodeSharer> sharers);

}  // namespace tidemark::placement
