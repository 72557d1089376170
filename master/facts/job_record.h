// All that is known of one job: a fold over its events.
//
// Values without behaviour beyond simple look-ups; the fold is master/facts/fold.h, estimates are
// functions of a const JobRecord and an instant. Instants are of the master's clock.
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
#include "master/facts/clock_offset.h"
#include "master/facts/key_distribution.h"
#include "master/facts/report_gaps.h"
#include "master/facts/stage.h"
#include "streaming/size_histogram.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"
#include "tidemark/past_run.h"

namespace tidemark::model {

struct SourceState {
  std::uint64_t accepted_sequence = 0;
  std::uint64_t dropped_events = 0;
  ClockOffset clock;
  std::uint32_t application_master_attempt = 0;  // that it opened the job as; 0: not said
  absl::flat_hash_map<std::uint32_t, std::size_t> executors;  // in JobRecord::executors, by number
};

struct Executor {
  ExecutorOpened opened;
  absl::Time opened_at;
  std::optional<absl::Time> closed_at;
  bool is_closed() const { return closed_at.has_value(); }
  // Attempts that run on it, by what was reported, of stages that have not ended.
  std::uint32_t running = 0;
  std::optional<absl::Time> over_since;          // more of them run than it has slots
  absl::Time over_until = absl::InfinitePast();  // the last time they did for kOverlap

  // The end of an attempt may be reported shortly after the start of the next one in its slot:
  // Spark first fetches the result.
  static constexpr absl::Duration kOverlap = absl::Seconds(1);
  void CountRunning(bool runs, absl::Time now);
};

// What was said of a group of stages; instants of the master's clock.
struct GroupState {
  GroupOpened opened;
  std::optional<GroupClosed> closed;
};

struct JobRecord {
  explicit JobRecord(std::uint32_t lambda) : keys(lambda) {}

  std::optional<JobOpened> opened;  // its stages: in `stages`
  std::string run_uid;              // of the one who opened it; empty: not said
  std::string opened_by;            // the source that did
  absl::Time started_at;            // when it was submitted, or first heard of
  std::optional<JobClosed> closed;
  std::optional<absl::Time> closed_at;
  absl::Time last_arrival_at = absl::InfinitePast();
  ReportGaps report_gaps;

  absl::flat_hash_map<std::string, SourceState> sources;
  std::vector<Executor> executors;        // of all sources, in the order in which they were opened
  std::map<std::uint32_t, Stage> stages;  // by number
  std::size_t edges = 0;                  // parents that stages have
  std::size_t dropped_edges = 0;          // parents that were reported and not kept
  bool has_late_stages = false;           // some were opened after the job
  std::map<std::string, GroupState>
      groups;  // that somebody opened or closed, by StageOpened::group
  KeyDistribution keys;
  streaming::SizeHistogram implicit_sizes;  // of implicit key groups finished in any task
  std::size_t map_profiles_missing = 0;     // map tasks whose profile_missing is set
  // A reduce function runs only after the last map task, whatever else was told or lost.
  bool map_phase_is_over = false;

  std::vector<PastRun> past_runs;  // earlier runs of the same job, newest first

  std::uint64_t taken_events = 0;
  std::uint64_t lost_events = 0;
  absl::Time last_gap_at = absl::InfinitePast();  // in the sequence of any source
  std::uint64_t anomalies = 0;
  std::uint64_t rejected_events = 0;
  std::uint64_t unknown_events = 0;   // that a newer version would understand
  std::uint64_t unused_profiles = 0;  // of key groups, of stages whose key groups are not estimated
  LogDamage log_damage;               // of all places; `at` is the first
  std::uint64_t log_damage_places = 0;
  // What the parts that grow with what agents send take in memory, estimated.
  std::size_t memory_bytes = 0;

  // The stages of a MapReduce job; null: not opened.
  const Stage* map_stage() const;
  const Stage* reduce_stage() const;
  // Their tasks by index; at least the opened count.
  std::span<const Task> map_tasks() const;
  std::span<const Task> reduce_tasks() const;
  // Whether it has that stage; a job of which no stage is known yet has both.
  bool has_map_stage() const;
  bool has_reduce_stage() const;
  // By what sums over the map profiles are to be multiplied for those that are missing; >= 1.
  double missing_profiles_factor() const;
  // Bytes reduce task `index` will read: exact where somebody said so, else the map profiles scaled
  // up for map tasks whose profile is missing; never below what it has read.
  std::uint64_t reduce_input_bytes(std::size_t index) const;
  std::size_t map_slots() const;
  std::size_t reduce_slots() const;
};

// Of their names and values.
std::size_t BytesOf(const std::map<std::string, std::string>& parameters);

}  // namespace tidemark::model
