// One job watched without a server, a thread or a clock: events and ticks in, snapshots out.
//
// JobMonitor is the whole of Tidemark's knowledge about one job. The Master (tidemark/master.h)
// wraps it with a gRPC server; `tidemark replay` feeds it an event log; an engine that already has
// its own transport can call it directly:
//
//   tidemark::JobMonitor monitor("job-1", {});
//   monitor.Apply(event);                           // whenever something happens
//   tidemark::Snapshot now = monitor.Tick(time);  // whenever a snapshot is wanted
//
// Deterministic: the same calls in the same order give the same bits on every machine of one
// architecture. Not thread-safe: one owner at a time. Memory: O(tasks + 35 lambda + distinct group
// sizes per reduce task, each bounded by JobLimits), independent of the size of the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/job.h"
#include "tidemark/job_summary.h"
#include "tidemark/job_tasks.h"
#include "tidemark/past_run.h"
#include "tidemark/stage_forecast.h"

namespace tidemark {

namespace cost {
struct StagesLeft;  // master/forecast/durations/task_times.h
}

// Bounds on what one job may make the master remember.
struct JobLimits {
  std::uint32_t map_tasks_max = 200'000;
  std::uint32_t reduce_tasks_max = 20'000;
  std::uint32_t attempts_per_task_max = 16;
  std::size_t sources_max = 100'000;
  std::size_t stages_max = 100'000;
  // What attempts, sources, waiting map profiles and the points of reduce tasks take in memory,
  // estimated; beyond it nothing is taken that would add to it.
  std::size_t state_bytes_max = std::size_t{4} << 30;
  friend bool operator==(const JobLimits&, const JobLimits&) = default;
};

struct JobMonitorOptions {
  // Indicators to run side by side, the one to show first. Known names: KnownIndicators(). Each
  // beyond the first costs time at every Tick(), and memory.
  std::vector<std::string> indicators = {"tidemark"};
  // Explicit keys per map task ([NF] 5.1); the heavy-key summary holds 35 times as many.
  std::uint32_t lambda = 2000;
  // A job without a report for so long ends as kAbandoned.
  absl::Duration abandon_after = absl::Minutes(15);
  JobLimits limits;
};

// The names that JobMonitorOptions::indicators may hold.
std::vector<std::string> KnownIndicators();
// `tidemark`, and the methods of the papers that it is usually compared with.
std::vector<std::string> ComparedIndicators();

// OK, or InvalidArgument that names the option that cannot be used.
absl::Status Validate(const JobMonitorOptions& options);

// How far a source was heard.
struct AcceptedSequence {
  std::string source_id;
  std::uint64_t sequence = 0;  // the last that was taken or refused
  friend bool operator==(const AcceptedSequence&, const AcceptedSequence&) = default;
};

// A stretch of a job's event log that could not be read.
struct LogDamage {
  std::uint64_t at = 0;         // where it begins. bytes
  std::uint64_t bytes = 0;      // its size
  std::uint64_t records = 0;    // about so many were in it; 0: none but copies
  std::uint64_t ticks_max = 0;  // at most so many of them were ticks
  friend bool operator==(const LogDamage&, const LogDamage&) = default;
};

class JobMonitor {
 public:
  // `options` must have passed Validate(); unknown indicators are left out.
  JobMonitor(std::string job_id, const JobMonitorOptions& options);
  // A job that has ended, of which no more than this is kept: it takes events without looking at
  // them and gives `final` for ever. Memory: O(sources + stages).
  static JobMonitor OfEnded(const Snapshot& final, const std::vector<AcceptedSequence>& sources);
  JobMonitor(JobMonitor&&) noexcept;
  JobMonitor& operator=(JobMonitor&&) noexcept;
  ~JobMonitor();

  // OK, or why the event is not of the run that this monitor watches, the one that opened the job:
  // AlreadyExists if the event opens another, else FailedPrecondition. Events that do not name
  // their run are taken for events of this one.
  absl::Status CheckRun(const Event& event) const;

  // Folds one event in. An error changes nothing but the sequence of its source and the count of
  // refused events, that of CheckRun() nothing at all:
  //   FailedPrecondition  the job is not open yet
  //   InvalidArgument     the event contradicts the shape of the job (a task or partition that it
  //                       does not have)
  //   ResourceExhausted   a limit; ExceededLimit() (tidemark/limit.h) names it
  // A duplicate event is OK and changes nothing. Amortised O(size of the event).
  absl::Status Apply(const Event& event);

  // Returns the estimate at `now`, which is not before the last call's. For a job that is not open,
  // sets only ids and instant. Each call yields the next sequence number; the final snapshot is
  // repeated. The reference stays valid until the next call.
  const Snapshot& Tick(absl::Time now);
  // Returns the cost of the last Tick(): the stages, groups, tasks and edges that it visited, and
  // more for each stage with remaining tasks. A stage that has ended is one step, however many
  // tasks it had. A step takes about a microsecond of processor time.
  std::size_t tick_steps() const;

  // When its stages start and end, as believed at the last Tick(), of a job that has other stages
  // than those of MapReduce: those it has by number, then those that earlier runs had. Empty:
  // nothing is believed.
  const std::vector<StageForecast>& stage_forecasts() const;

  // Returns the attempts at its tasks as of the last event, and their remaining work as of the last
  // Tick(). `now` must not be before that. Empty for a monitor made by OfEnded(). O(attempts log
  // attempts).
  JobTasks ListTasks(const TaskQuery& query, absl::Time now) const;
  // Returns the predicted ends so far, evenly spread, at most `most`. Empty for a monitor made by
  // OfEnded().
  std::vector<PastForecast> PastForecasts(std::size_t most) const;

  // Returns the last result of Tick(); a snapshot of sequence 0 before the first.
  const Snapshot& job() const;

  // Returns whether the job has been opened, and whether events arrived since the last Tick().
  bool is_open() const;
  bool has_news() const;
  // Returns the name of the job; empty if unknown.
  const std::string& name() const;
  // Whether Tick() has returned or will return a final snapshot.
  bool is_closed() const;

  // About how much memory it takes, as limits.state_bytes_max counts it; 0 of one made by
  // OfEnded().
  std::size_t state_bytes() const;

  // Which run of the job it watches; empty before that is known, or where the engine does not say.
  const std::string& run_uid() const;

  // The last sequence of a source that was taken or refused; 0 if the source is not known.
  std::uint64_t accepted_sequence(const std::string& source_id) const;
  // Of all sources, by id.
  std::vector<AcceptedSequence> accepted_sequences() const;
  // What the job has taught so far; of one made by OfEnded(), nothing. O(tasks · size bins).
  JobSummary Summary() const;
  // Which finished key groups reduce tasks should name: those that may be explicit keys, the
  // smallest of which is given by its size, and sampled ones. The smallest is of before the last
  // sixteenth of the map profiles at most, so that asking after each costs little.
  NamedGroups wanted_names() const;

  // What the tasks of the stages that are left take, as the last Tick() had it, for an estimate of
  // jobs that share a cluster; null: not known. Means nothing outside of Tidemark.
  std::shared_ptr<const cost::StagesLeft> stages_left() const;

  // Whether any of its indicators needs the points of reduce profiles beside their bins.
  bool wants_points() const;

  // Earlier runs of the same job, or of others where there are none, newest first; at most
  // kPastRunsMax are kept. To be set before the first Tick(), so that forecasts begin with the job;
  // later calls replace the runs.
  static constexpr std::size_t kPastRunsMax = 8;
  void SetPastRuns(std::vector<PastRun> runs);

  // What Tick() has left behind, as opaque bytes: a monitor that applies the same events, and
  // resumes from them instead of ticking at the same instants, goes on as this one does, to the
  // last bit. O(tasks · size bins + explicit keys), some tens of kilobytes for most jobs.
  std::string Checkpoint() const;
  // Continues from a checkpoint of the same job and options by the same version of this library.
  // InvalidArgument, and the monitor is of no further use: it is of none of these.
  absl::Status Resume(const std::string& checkpoint);

  // Notes that a new master restored the job from its log at `now`. The sources' silence until then
  // does not end the job: it is abandoned abandon_after later at the earliest. The estimate still
  // stops, and Snapshot::silent_since reports the silence, counted from `now`. From here on
  // `limits` hold; without them, the previous limits stay.
  void NoteRestart(absl::Time now, const std::optional<JobLimits>& limits = {});
  // Notes that events are missing from `now` on, until the next one: attempts that run may have
  // ended meanwhile, so none of them is named as a straggler until it is reported to run or to do
  // anything.
  void NoteGap(absl::Time now);
  // A part of its log was lost before a restart: a note says so, intervals widen as for events
  // that never came, and no sequence number that a lost tick may have used is used again. Changes
  // nothing of a job that is not open or has ended.
  void NoteDamage(const LogDamage& damage);
  // Counts an event that could not be understood, for Coverage. With its source and sequence, if
  // it names them, it was heard: it is not lost, and a duplicate changes nothing.
  void CountRejected(const AcceptedSequence& event = {});
  // Adds a line to Snapshot::notes once.
  void AddNote(const std::string& note);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
