// A workflow that has run. Task times are in seconds from the start of the workflow.
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
  // index in Trace::executors; nullopt for a separate process
  std::optional<std::uint32_t> executor;
  std::optional<double> shuffled;      // end of the shuffle of a reduce task, if known
  std::optional<std::uint64_t> bytes;  // size of the split of a map task, if known
  // bytes that the task has read and emitted, reported at its end; 0 if unknown
  std::uint64_t read_bytes = 0;
  std::uint64_t emitted_bytes = 0;
};

struct TraceExecutor {
  double at = 0;
  std::uint32_t slots = 1;
};

struct TraceStage {
  std::string name;                  // identifies the stage in other runs
  std::string title;                 // a description; empty if the name serves as the description
  std::vector<std::size_t> parents;  // parents have lower indexes than the stage
  std::size_t owner = 0;
  // the job that contains the stage; empty if the stage was known from the start
  std::string group;
  std::uint64_t work = 0;  // as in StageOpened
  StageKind kind = StageKind::kGeneric;
  double visible_at = 0;               // time at which the engine reported the stage
  std::optional<double> submitted_at;  // time at which the tasks of the stage could first run
  std::vector<TraceTask> tasks;        // sorted by start
};

struct Trace {
  std::string group;  // values are first averaged within a group
  std::string name;
  bool held_out = false;  // true if the trace is not used to choose constants
  double slots = 1;
  placement::Policy policy = placement::Policy::kFifo;
  std::size_t owners = 1;
  double end = 0;
  std::vector<TraceExecutor> executors;
  // The engine's reports of groups with their times: GroupOpened and GroupClosed.
  std::vector<std::pair<double, EventBody>> groups;
  std::vector<TraceStage> stages;
};

placement::Resourcing ResourcingOf(const Trace& trace);
// Returns the end of the last task in the stages of an owner.
double EndOfOwner(const Trace& trace, std::size_t owner);

// Sorts the tasks by start, and sets `end`.
void Finish(Trace& trace);

// Reads a whole file and unpacks .zst and .gz. Fails with NotFound, with DataLoss if the contents
// do not match the suffix, or with ResourceExhausted if they exceed 2 GiB.
absl::StatusOr<std::string> ReadUnpacked(const std::string& path);

}  // namespace tidemark::bench
