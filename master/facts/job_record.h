// The known facts about one job, which are the state of a fold over its events.
//
// Values with simple accessors only. The fold is in master/facts/fold.h. Estimates are functions of
// a const JobRecord and an instant. All instants use the master's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "master/facts/key_distribution.h"
#include "master/facts/report_times.h"
#include "master/facts/stage.h"
#include "streaming/saturating.h"
#include "streaming/size_histogram.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"
#include "tidemark/past_run.h"

namespace tidemark::facts {

using streaming::SaturatingAdd;
using streaming::SaturatingSubtract;

struct SourceState {
  std::uint64_t accepted_sequence = 0;
  std::uint64_t dropped_events = 0;
  ClockOffset clock;
  // If this source opened the job, the attempt number of its application master; 0 if not reported.
  std::uint32_t application_master_attempt = 0;
  absl::flat_hash_map<std::uint32_t, std::size_t> executors;  // index in JobRecord
};

struct Executor {
  ExecutorOpened opened;
  absl::Time opened_at;
  std::optional<absl::Time> closed_at;
  SlotLoad load;  // attempts with SlotPool::kExecutor in stages that have not ended
  bool is_closed() const { return closed_at.has_value(); }
};

// A group of stages.
struct GroupState {
  GroupOpened opened;
  std::optional<GroupClosed> closed;
};

// A step of a source's clock, which was set back or forward.
struct ClockStep {
  std::string source_id;
  absl::Duration by;  // negative if it was set back
  absl::Time at;
};

struct JobRecord {
  explicit JobRecord(std::uint32_t lambda) : keys(lambda) {}

  std::optional<JobOpened> opened;  // without stages, which are in `stages`
  std::string run_uid;              // reported by the source that opened it; may be empty
  std::string opened_by;            // id of that source
  absl::Time started_at;            // submission, or first event
  std::optional<JobClosed> closed;
  std::optional<absl::Time> closed_at;
  absl::Time last_arrival_at = absl::InfinitePast();
  ReportGaps report_gaps;

  absl::flat_hash_map<std::string, SourceState> sources;
  std::vector<Executor> executors;        // executors of all sources, in the order of their opening
  std::map<std::uint32_t, Stage> stages;  // by number
  std::size_t edges = 0;                  // number of parents, summed over the stages
  std::size_t dropped_edges = 0;          // parents that were reported and not kept
  bool has_late_stages = false;           // a stage was opened after the job
  std::map<std::string, GroupState> groups;  // by StageOpened::group
  KeyDistribution keys;
  streaming::SizeHistogram implicit_sizes;  // finished implicit key groups of all tasks
  std::size_t map_profiles_missing = 0;     // number of tasks with profile_missing
  // Set by the first sign of a reduce function, which runs only after the last map task.
  bool map_phase_is_over = false;

  std::vector<PastRun> past_runs;  // newest first

  std::uint64_t taken_events = 0;
  std::uint64_t lost_events = 0;
  absl::Time last_gap_at = absl::InfinitePast();  // last gap in any sequence
  std::uint64_t anomalies = 0;
  std::uint64_t rejected_events = 0;
  std::uint64_t unknown_events = 0;   // events of a newer version
  std::uint64_t unused_profiles = 0;  // profiles of stages whose key groups are not estimated
  std::uint64_t clock_steps = 0;
  std::optional<ClockStep> last_clock_step;
  LogDamage log_damage;  // totals of all damaged ranges; `at` is the first
  std::uint64_t log_damage_places = 0;
  // Estimated memory of the parts that grow with the events.
  std::size_t memory_bytes = 0;

  // Return the stages of a MapReduce job, or null if they are not open.
  const Stage* map_stage() const;
  const Stage* reduce_stage() const;
  // Return the tasks of these stages by index; at least as many as the opened count.
  std::span<const Task> map_tasks() const;
  std::span<const Task> reduce_tasks() const;
  // Return true if the record has that stage. A job without any known stage is assumed to have
  // both.
  bool has_map_stage() const;
  bool has_reduce_stage() const;
  // Returns the factor on sums over map profiles that accounts for missing profiles; at least 1.
  double missing_profiles_factor() const;
  // Returns the bytes that reduce task `index` will read. They are exact if they were reported.
  // Otherwise they are estimated from the map profiles and missing_profiles_factor(). The result is
  // never below the bytes that the task has read.
  std::uint64_t reduce_input_bytes(std::size_t index) const;
  std::size_t map_slots() const;
  std::size_t reduce_slots() const;
};

// Returns the total size of the names and values in bytes.
std::size_t BytesOf(const std::map<std::string, std::string>& parameters);

}  // namespace tidemark::facts
