// A workflow that has run, with the times of its tasks in seconds since the workflow began.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "master/forecast/placement/allocation.h"
#include "tidemark/event.h"

namespace tidemark::bench {

struct TraceTask {
  double start = 0;
  double end = 0;
  std::optional<std::uint32_t> executor;  // index in Trace::executors; empty for a separate process
  std::optional<double> shuffled;         // end of a reduce task's shuffle, if known
  std::optional<std::uint64_t> bytes;     // size of a map task's split, if known
};

struct TraceExecutor {
  double at = 0;
  std::uint32_t slots = 1;
};

struct TraceStage {
  std::string name;                  // identifies it in another run
  std::string title;                 // a description; if empty, the name is used
  std::vector<std::size_t> parents;  // have lower indexes
  std::size_t owner = 0;
  std::string group;       // the job that contains the stage; empty if known from the start
  std::uint64_t work = 0;  // like StageOpened.work
  StageKind kind = StageKind::kGeneric;
  double visible_at = 0;               // when the engine reported it
  std::optional<double> submitted_at;  // when its tasks could run for the first time
  std::vector<TraceTask> tasks;        // sorted by start
};

struct Trace {
  std::string group;  // figures are averaged within a group first
  std::string name;
  bool held_out = false;  // not used for choosing constants
  double slots = 1;
  placement::Policy policy = placement::Policy::kFifo;
  std::size_t owners = 1;
  double end = 0;
  std::vector<TraceExecutor> executors;
  // The engine's reports of groups and their times: GroupOpened and GroupClosed.
  std::vector<std::pair<double, EventBody>> groups;
  std::vector<TraceStage> stages;
};

placement::Resourcing ResourcingOf(const Trace& trace);
// Returns the end of the last task of an owner's stages.
double EndOfOwner(const Trace& trace, std::size_t owner);

// Sorts tasks by start and sets `end`.
void Finish(Trace& trace);

// Reads a whole file, unpacking .zst and .gz. Returns NotFound, DataLoss if the contents do not
// match the suffix, or ResourceExhausted if they exceed 2 GiB.
absl::StatusOr<std::string> ReadUnpacked(const std::string& path);

}  // namespace tidemark::bench
