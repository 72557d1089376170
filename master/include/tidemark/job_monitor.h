// Tracks one job without a server, a thread or a clock: events and ticks in, snapshots out.
//
// JobMonitor contains all that Tidemark computes about one job. The Master (tidemark/master.h)
// wraps it with a gRPC server; `tidemark replay` passes it an event log. An engine with its own
// transport can call it directly:
//
//   tidemark::JobMonitor monitor("job-1", {});
//   monitor.Apply(event);                           // for every event
//   tidemark::Snapshot now = monitor.Tick(time);    // for every snapshot
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

namespace durations {
struct RemainingStages;  // master/forecast/durations/task_times.h
}

// Limits of one job.
struct JobLimits {
  std::uint32_t map_tasks_max = 200'000;
  std::uint32_t reduce_tasks_max = 20'000;
  std::uint32_t attempts_per_task_max = 16;
  std::size_t sources_max = 100'000;
  // Stages, and groups of stages, of one job. Programs that read logs reject a job with more stages
  // than kStagesMax. With 7 kB per stage, `tidemark replay` would need more than 500 MB.
  static constexpr std::size_t kStagesMax = 70'000;
  std::size_t stages_max = kStagesMax;
  // Estimated memory of attempts, sources, pending map profiles and points of reduce tasks, in
  // bytes. The monitor rejects events that would exceed it.
  std::size_t state_bytes_max = std::size_t{4} << 30;
  friend bool operator==(const JobLimits&, const JobLimits&) = default;
};

struct JobMonitorOptions {
  // Indicators to run side by side, the displayed one first. KnownIndicators() lists the names.
  // Each further one costs time at every Tick(), and memory.
  std::vector<std::string> indicators = {"tidemark"};
  // Explicit keys per map task ([NF] 5.1); the heavy-key summary holds 35 times as many.
  std::uint32_t lambda = 2000;
  // A job without a report for this long ends as kAbandoned.
  absl::Duration abandon_after = absl::Minutes(15);
  JobLimits limits;
};

// Returns the possible names of JobMonitorOptions::indicators.
std::vector<std::string> KnownIndicators();
// Returns `tidemark` and the methods of the papers for a usual comparison.
std::vector<std::string> ComparedIndicators();

// Returns OK, or InvalidArgument that names the invalid option.
absl::Status Validate(const JobMonitorOptions& options);

// The last event of a source.
struct AcceptedSequence {
  std::string source_id;
  std::uint64_t sequence = 0;  // the last accepted or rejected one
  friend bool operator==(const AcceptedSequence&, const AcceptedSequence&) = default;
};

// An unreadable part of a job's event log.
struct LogDamage {
  std::uint64_t at = 0;         // position in bytes
  std::uint64_t bytes = 0;      // its size
  std::uint64_t records = 0;    // estimated number of lost records; 0 if a copy of each exists
  std::uint64_t ticks_max = 0;  // upper bound of the lost ticks
  friend bool operator==(const LogDamage&, const LogDamage&) = default;
};

class JobMonitor {
 public:
  // `options` must have passed Validate(); unknown indicators are ignored.
  JobMonitor(std::string job_id, const JobMonitorOptions& options);
  // Returns the monitor of an ended job. It ignores events and always returns `final`. Memory:
  // O(sources + stages).
  static JobMonitor OfEnded(const Snapshot& final, const std::vector<AcceptedSequence>& sources);
  JobMonitor(JobMonitor&&) noexcept;
  JobMonitor& operator=(JobMonitor&&) noexcept;
  ~JobMonitor();

  // Checks that the event belongs to the run of this monitor, which is the run that opened the job.
  // AlreadyExists if the event opens another run, else FailedPrecondition. An event that names no
  // run belongs to this one.
  absl::Status CheckRun(const Event& event) const;

  // Folds one event in. An error changes only the sequence of the event's source and the count of
  // rejected events; an error of CheckRun() changes nothing:
  //   FailedPrecondition  the job is not open yet
  //   InvalidArgument     the event contradicts the shape of the job (a task or partition that it
  //                      does not have)
  //   ResourceExhausted   a limit; ExceededLimit() (tidemark/limit.h) names it
  // A duplicate event is OK and changes nothing. Amortised O(size of the event).
  absl::Status Apply(const Event& event);

  // Returns the estimate at `now`, which is not before the last call's. For a job that is not open,
  // sets only ids and instant. Each call yields the next sequence number; the final snapshot is
  // repeated. The reference stays valid until the next call.
  const Snapshot& Tick(absl::Time now);
  // Returns the cost of the last Tick(): the stages, groups, tasks and edges that it visited, and
  // more for each stage with remaining tasks. An ended stage counts as one step, regardless of its
  // number of tasks. A step takes about a microsecond of processor time.
  std::size_t tick_steps() const;

  // Returns the predicted starts and ends of stages at the last Tick(), for a job that is not
  // MapReduce. The list has its stages by number, then missing stages of past runs. Empty without a
  // forecast.
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
  // Returns the name of the job, or an empty text if unknown.
  const std::string& name() const;
  // Returns true if Tick() has returned or will return a final snapshot.
  bool is_closed() const;

  // Returns the estimated memory for limits.state_bytes_max, or 0 for a monitor made by OfEnded().
  std::size_t state_bytes() const;

  // Returns the run of the job. Empty before it is known, or if the engine reports none.
  const std::string& run_uid() const;

  // Returns the last accepted or rejected sequence of a source; 0 for an unknown source.
  std::uint64_t accepted_sequence(const std::string& source_id) const;
  // Returns the last sequences of all sources, by id.
  std::vector<AcceptedSequence> accepted_sequences() const;
  // Returns the summary of the run so far; empty for a monitor made by OfEnded(). O(tasks · size
  // bins).
  JobSummary Summary() const;
  // Returns which finished key groups reduce tasks should name: possible explicit keys, from the
  // size of the smallest one on, and sampled ones. The size may be as old as the last sixteenth of
  // the map profiles, so that frequent calls are cheap.
  NamedGroups wanted_names() const;

  // Returns the task times of the remaining stages at the last Tick(), for estimates of jobs that
  // share a cluster, or null if unknown. For internal use.
  std::shared_ptr<const durations::RemainingStages> stages_left() const;

  // Returns true if an indicator needs the points of reduce profiles in addition to their bins.
  bool wants_points() const;

  // Sets past runs of the same job or, without any, of others, newest first; at most kPastRunsMax
  // are kept. Call it before the first Tick(), so that forecasts begin with the job. Later calls
  // replace the runs.
  static constexpr std::size_t kPastRunsMax = 8;
  void SetPastRuns(std::vector<PastRun> runs);

  // Returns the state after the last Tick() as opaque bytes. A monitor that applies the same events
  // and resumes from these bytes continues exactly like this one, to the last bit. O(tasks · size
  // bins + explicit keys), some tens of kilobytes for most jobs.
  std::string Checkpoint() const;
  // Continues from a checkpoint of the same job and options by the same version of this library.
  // InvalidArgument for any other bytes; the monitor must not be used afterwards.
  absl::Status Resume(const std::string& checkpoint);

  // Notes that a new master restored the job from its log at `now`. The sources' silence until then
  // does not end the job: it is abandoned abandon_after later at the earliest. The estimate still
  // stops, and Snapshot::silent_since reports the silence, counted from `now`. From this call on,
  // `limits` apply; without them, the previous limits stay.
  void NoteRestart(absl::Time now, const std::optional<JobLimits>& limits = {});
  // Notes that events are missing from `now` until the next one. Running attempts may have ended in
  // the meantime, so an attempt is not named as a straggler until another event reports it.
  void NoteGap(absl::Time now);
  // Notes that a part of the log was lost before a restart. It adds a note, widens intervals as for
  // lost events, and skips all sequence numbers that lost ticks may have used. No effect on a job
  // that is not open or has ended.
  void NoteDamage(const LogDamage& damage);
  // Counts an event that did not parse, for Coverage. If it names its source and sequence, it does
  // not count as lost, and a duplicate changes nothing.
  void CountRejected(const AcceptedSequence& event = {});
  // Adds a line to Snapshot::notes once.
  void AddNote(const std::string& note);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
