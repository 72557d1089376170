// All that is known of one job: a fold over its events.
//
// Values without behaviour beyond simple look-ups; the fold is master/model/fold.h, estimates are
// functions of a const JobState and an instant. Instants are of the master's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "master/model/attempt_life.h"
#include "master/model/clock_offset.h"
#include "master/model/key_distribution.h"
#include "master/model/report_gaps.h"
#include "master/model/stage.h"
#include "streaming/size_histogram.h"
#include "streaming/smoothed_points.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"
#include "tidemark/past_run.h"

namespace tidemark::model {

struct SourceState {
  std::uint64_t accepted_sequence = 0;
  std::uint64_t dropped_events = 0;
  ClockOffset clock;
  std::uint32_t application_master_attempt = 0;  // that it opened the job as; 0: not said
  absl::flat_hash_map<std::uint32_t, std::size_t> executors;  // in JobState::executors, by number
};

struct MapAttempt {
  AttemptLife life;
  std::uint64_t bytes_done = 0;
  std::optional<MapProfile> profile;  // kept until it counts or the attempt turns out useless
};

struct MapTask {
  std::map<std::uint32_t, MapAttempt> attempts;
  std::optional<std::uint64_t> input_bytes;
  bool profile_counted = false;  // the profile of its first finished attempt is in JobState::keys
  bool profile_missing = false;  // it is over and its profile is not

  const MapAttempt* finished_attempt() const;
  bool is_finished() const { return finished_attempt() != nullptr; }
  bool is_running() const;
};

// What one attempt at a reduce task has done. A time "alone" leaves out what the attempt waited for
// a processor, where its source tells that: it is what the same would take with nobody to share
// with.
struct ReduceAttempt {
  AttemptLife life;
  std::uint64_t fetched_bytes = 0;
  std::uint64_t groups_done = 0;
  std::uint64_t bytes_done = 0;
  absl::Duration reduce_time;
  absl::Duration reduce_time_alone;
  std::optional<absl::Time> reduce_started_at;       // its first reduce function
  std::optional<absl::Time> last_group_finished_at;  // p_i(t)
  std::optional<RunningGroup> running_group;         // its time: alone
  absl::Duration running_group_elapsed;              // its time as told
  absl::Time running_group_seen_at;
  std::optional<ProcessorUse> processor_use;  // as told last
  double alone_share = 1;          // of its time of late: in which it did not wait for a processor
  double alone_share_at_last = 1;  // the same between the last two looks
  double alone_share_of_finished = 1;  // of the time of what finished between them
  std::uint64_t dropped_points = 0;
  double told_bytes = 0;  // of bytes_done, those whose bins or points came; the rest was lost
  bool sends_bins = false;

  // Explicit keys it has finished: by identity, or, where its source does not name them, by
  // closeness of size.
  absl::flat_hash_set<KeyHash> finished_explicit;
  absl::flat_hash_set<KeyHash> finished_sampled;  // implicit ones of the sample
  // The same in the order they became known; their times: alone.
  std::vector<FinishedKey> finished_explicit_groups;
  std::multimap<std::uint64_t, KeyHash> unmatched_explicit;  // by size; made when needed
  std::size_t unmatched_as_of = 0;                           // map profiles it was made from

  // Whether it has just begun to work, as far as its source tells how much it worked.
  bool is_cold() const;
};

struct ReduceTask {
  std::map<std::uint32_t, ReduceAttempt> attempts;
  streaming::SmoothedPoints points;    // D_i(t), of all attempts
  std::uint64_t points_version = 0;    // grows with every change of `points`
  streaming::SizeHistogram bins;       // the same key groups as moments of their times alone ...
  streaming::SizeHistogram cold_bins;  // ... but for what an attempt did while it was cold

  const ReduceAttempt* finished_attempt() const;
  bool is_finished() const { return finished_attempt() != nullptr; }
  bool is_running() const;
};

struct JobState {
  explicit JobState(std::uint32_t lambda) : keys(lambda) {}

  std::optional<JobOpened> opened;  // its stages: in `stages`
  std::string run_uid;              // of the one who opened it; empty: not said
  absl::Time started_at;            // when it was submitted, or first heard of
  std::optional<JobClosed> closed;
  std::optional<absl::Time> closed_at;
  absl::Time last_arrival_at = absl::InfinitePast();
  ReportGaps report_gaps;

  absl::flat_hash_map<std::string, SourceState> sources;
  std::vector<ExecutorOpened> executors;  // of all sources, in the order in which they were opened
  std::map<std::uint32_t, Stage> stages;  // by number
  bool has_late_stages = false;           // some were opened after the job
  std::vector<MapTask> map_tasks;         // by index; at least the opened count
  std::vector<ReduceTask> reduce_tasks;   // likewise
  KeyDistribution keys;
  streaming::SizeHistogram implicit_sizes;  // of implicit key groups finished in any task
  std::size_t map_profiles_missing = 0;     // map tasks whose profile_missing is set
  // A reduce function runs only after the last map task, whatever else was told or lost.
  bool map_phase_is_over = false;
  std::uint32_t map_tasks_running_max = 0;  // most seen running at once
  std::uint32_t reduce_tasks_running_max = 0;

  std::vector<PastRun> past_runs;  // earlier runs of the same job, newest first

  std::uint64_t taken_envelopes = 0;
  std::uint64_t lost_envelopes = 0;
  std::uint64_t anomalies = 0;
  std::uint64_t rejected_envelopes = 0;
  std::uint64_t unknown_events = 0;   // that a newer version would understand
  std::uint64_t unused_profiles = 0;  // of key groups, of stages whose key groups are not estimated
  LogDamage log_damage;               // of all places; `at` is the first
  std::uint64_t log_damage_places = 0;
  // What the parts that grow with what agents send take in memory, estimated.
  std::size_t memory_bytes = 0;

  // The stages of a MapReduce job; null: not opened.
  const StageOpened* map_stage() const;
  const StageOpened* reduce_stage() const;
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

}  // namespace tidemark::model
