// The known facts about one job, which are the state of a fold over its events
// (master/facts/fold.h).
//
// Values with simple accessors only. Estimates are functions of a const JobRecord and a time. All
// times use the master's clock.
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
  // Attempt number of the application master if this source opened the job; 0 if not reported.
  std::uint32_t application_master_attempt = 0;
  absl::flat_hash_map<std::uint32_t, std::size_t> executors;  // index in JobRecord
};

struct Executor {
  ExecutorOpened opened;
  absl::Time opened_at;
  std::optional<absl::Time> closed_at;
  SlotLoad load;  // load of attempts with SlotPool::kExecutor in open stages
  bool is_closed() const { return closed_at.has_value(); }
};

struct GroupState {
  GroupOpened opened;
  std::optional<GroupClosed> closed;
};

// A change of a source's clock, which was set back or forward.
struct ClockStep {
  std::string source_id;
  absl::Duration by;  // negative if the clock was set back
  absl::Time at;
};

struct JobRecord {
  explicit JobRecord(std::uint32_t lambda) : keys(lambda) {}

  std::optional<JobOpened> opened;  // excludes the stages, which are in `stages`
  std::string run_uid;              // reported by the source that opened the job; may be empty
  std::string opened_by;            // id of the source that opened the job
  absl::Time started_at;            // submission, or first event
  std::optional<JobClosed> closed;
  std::optional<absl::Time> closed_at;
  absl::Time last_arrival_at = absl::InfinitePast();
  ReportGaps report_gaps;

  absl::flat_hash_map<std::string, SourceState> sources;
  std::vector<Executor> executors;           // executors of all sources, in order of opening
  std::map<std::uint32_t, Stage> stages;     // by number
  std::size_t edges = 0;                     // number of parents, summed over the stages
  std::size_t dropped_edges = 0;             // number of reported parents that were not kept
  bool has_late_stages = false;              // whether a stage was opened after the job
  std::map<std::string, GroupState> groups;  // by StageOpened::group
  KeyDistribution keys;
  streaming::SizeHistogram implicit_sizes;  // finished implicit key groups of all tasks
  std::size_t map_profiles_missing = 0;     // number of tasks with profile_missing
  // Set by the first sign of a reduce function, since reduce functions run only after the last map
  // task.
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
  LogDamage log_damage;  // totals of all damaged ranges; `at` is the time of the first
  std::uint64_t log_damage_places = 0;
  // Estimated memory of the parts that grow with the events.
  std::size_t memory_bytes = 0;

  // These functions return the stages of a MapReduce job, or null if they are not open.
  const Stage* map_stage() const;
  const Stage* reduce_stage() const;
  // These functions return the tasks of the map or reduce stage by index, at least as many as the
  // opened count.
  std::span<const Task> map_tasks() const;
  std::span<const Task> reduce_tasks() const;
  // These functions return true if the record has a map or reduce stage. A job without known stages
  // is assumed to have both.
  bool has_map_stage() const;
  bool has_reduce_stage() const;
  // Returns the factor on sums over map profiles that compensates for missing profiles; at least 1.
  double missing_profiles_factor() const;
  // Returns the number of bytes that reduce task `index` will read. The number is exact if it was
  // reported. Otherwise it is estimated from the map profiles and missing_profiles_factor(). It is
  // never below the bytes that the task has read.
  std::uint64_t reduce_input_bytes(std::size_t index) const;
  std::size_t map_slots() const;
  std::size_t reduce_slots() const;
};

// Returns the total size of the names and values in bytes.
std::size_t BytesOf(const std::map<std::string, std::string>& parameters);
// Returns the total size of the workflow's texts in bytes.
std::size_t BytesOf(const JobWorkflow& workflow);

// Returns the shape of a workflow's graph as a suffix of history names, such as " #1f3a09c4", or an
// empty string if the graph is unknown. Equal graphs have equal shapes on every machine. O(n log n)
// for n nodes and edges.
std::string ShapeOf(const JobWorkflow& workflow);
// Returns the name under which the runs of a node are stored. `shape` is ShapeOf(workflow).
std::string NodeHistoryName(const JobWorkflow& workflow, const std::string& shape,
                            const std::string& node);
// Returns the name under which the runs of the whole workflow are stored.
std::string WorkflowHistoryName(const JobWorkflow& workflow, const std::string& shape);
// Returns the name under which the runs of a job are stored if the job is the only known job of its
// workflow: the name of its node. Returns the name of the job if it reports no workflow, or only an
// id and no node. A command with one job thus has the same past runs with and without a workflow.
// Interactive sessions of Spark with a default name share no past runs.
std::string HistoryNameOf(const JobOpened& opened);

}  // namespace tidemark::facts
