// A workflow that has run: which task ran when. Seconds since the workflow began.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "master/forecast/placement/allocation.h"
#include "master/forecast/placement/stage_work.h"
#include "tidemark/event.h"

namespace tidemark::bench {

struct TraceTask {
  double start = 0;
  double end = 0;
  std::optional<std::uint32_t> executor;  // in Trace::executors; empty: a process of its own
  std::optional<double> shuffled;         // of a reduce task, if it is known
  std::optional<std::uint64_t> bytes;     // of a map task's split, if they are known
};

struct TraceExecutor {
  double at = 0;
  std::uint32_t slots = 1;
};

struct TraceStage {
  std::string name;                  // by which it is recognised in another run
  std::string title;                 // what it does; empty: as its name says
  std::vector<std::size_t> parents;  // lower indexes
  std::size_t owner = 0;
  std::string group;       // the engine's job that brings it; empty: it is known at once
  std::uint64_t work = 0;  // as StageOpened has it
  StageKind kind = StageKind::kGeneric;
  double visible_at = 0;               // when the engine told of it
  std::optional<double> submitted_at;  // when its tasks could first have run
  std::vector<TraceTask> tasks;        // by start
};

struct Trace {
  std::string group;  // what figures are averaged within before they are averaged
  std::string name;
  bool held_out = false;  // no constant was chosen on it
  double slots = 1;
  schedule::Policy policy = schedule::Policy::kFifo;
  std::size_t owners = 1;
  double end = 0;
  std::vector<TraceExecutor> executors;
  // What the engine told of groups, and when: GroupOpened and GroupClosed.
  std::vector<std::pair<double, EventBody>> groups;
  std::vector<TraceStage> stages;
};

schedule::Resourcing ResourcingOf(const Trace& trace);
// When the last task of an owner's stages ended.
double EndOfOwner(const Trace& trace, std::size_t owner);

// Sorts tasks by start and sets `end`.
void Finish(Trace& trace);

}  // namespace tidemark::bench
