// All that is known of one stage of a job.
//
// The tasks of a MapReduce job's two stages are in JobState::map_tasks and reduce_tasks, which know
// of key groups; those of every other stage are here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "master/model/attempt_life.h"
#include "tidemark/event.h"

namespace tidemark::model {

struct StageTaskAttempt {
  AttemptLife life;
  std::uint64_t bytes_done = 0;
  std::uint64_t records_done = 0;
  std::optional<std::size_t> executor;  // where it runs: its place in JobState::executors
};

struct StageTask {
  // By attempt at the stage and attempt at the task.
  std::map<std::pair<std::uint32_t, std::uint32_t>, StageTaskAttempt> attempts;

  bool is_finished() const;
  bool is_running() const;
};

struct Stage {
  StageOpened opened;                        // as its newest attempt has it
  std::map<std::uint32_t, StageTask> tasks;  // by index; those of which something was heard
  absl::Time announced_at;                   // when it was first told of

  // The first stage of a MapReduce job, and the second.
  bool is_map() const { return opened.stage == kMapStage && opened.kind == StageKind::kMap; }
  bool is_reduce() const {
    return opened.stage == kReduceStage && opened.kind == StageKind::kReduce;
  }
  // O(tasks).
  std::size_t finished_task_count() const;
  std::size_t running_task_count() const;
};

// Fills in what `said` adds to the same attempt at the stage, or replaces it by a later attempt; a
// kind that is known stays. False if `said` contradicts what is known; of an earlier attempt, it
// changes nothing.
bool FillIn(const StageOpened& said, StageOpened& known);

// What a stage takes in memory beyond its struct. bytes
std::size_t StateBytesOf(const StageOpened& stage);

}  // namespace tidemark::model
