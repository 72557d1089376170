// Tracks one job without a server, a thread or a clock. The inputs are events and ticks; the
// outputs are snapshots.
//
// JobMonitor contains all that Tidemark computes about one job. The Master (tidemark/master.h)
// wraps it with a gRPC server; `tidemark replay` passes it an event log. An engine with its own
// transport can call it directly:
//
//   tidemark::JobMonitor monitor("job-1", {});
//   monitor.Apply(event);                           // for every event
//   tidemark::Snapshot now = monitor.Tick(time);    // for every snapshot
//
// Deterministic: the same sequence of calls gives the same bits on every machine of one
// architecture. Not thread-safe. Memory: O(tasks + 35 lambda + distinct group sizes per reduce
// task, each bounded by JobLimits), independent of the size of the data.
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
  // Limit on stages, and on groups of stages, of one job. Programs that read logs reject a job with
  // more than kStagesMax stages. At 7 kB per stage, `tidemark replay` would need more than 500 MB.
  static constexpr std::size_t kStagesMax = 70'000;
  std::size_t stages_max = kStagesMax;
  // Limit on the estimated memory of attempts, sources, pending map profiles and points of reduce
  // tasks, in bytes. The monitor rejects events that would exceed it.
  std::size_t state_bytes_max = std::size_t{4} << 30;
  friend bool operator==(const JobLimits&, const JobLimits&) = default;
};

struct JobMonitorOptions {
  // Indicators to run concurrently. The first one is displayed. KnownIndicators() lists the names.
  // Each additional indicator costs memory, and time at every Tick().
  std::vector<std::string> indicators = {"tidemark"};
  // Explicit keys per map task ([NF] 5.1); the heavy-key summary holds 35 times as many.
  std::uint32_t lambda = 2000;
  // A job that receives no event for this long ends as kAbandoned.
  absl::Duration abandon_after = absl::Minutes(15);
  JobLimits limits;
};

// Returns the possible names of JobMonitorOptions::indicators.
std::vector<std::string> KnownIndicators();
// Returns the indicators of the usual comparison: `tidemark` and the methods of the papers.
std::vector<std::string> ComparedIndicators();

// Returns OK, or an InvalidArgument error that names the invalid option.
absl::Status Validate(const JobMonitorOptions& options);

// The last event of a source.
struct AcceptedSequence {
  std::string source_id;
  std::uint64_t sequence = 0;  // the last accepted or rejected sequence
  friend bool operator==(const AcceptedSequence&, const AcceptedSequence&) = default;
};

// An unreadable part of a job's event log.
struct LogDamage {
  std::uint64_t at = 0;         // position in bytes
  std::uint64_t bytes = 0;      // size in bytes
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

  // Checks that the event belongs to this monitor's run, which is the run that opened the job.
  // Returns AlreadyExists if the event opens another run, and FailedPrecondition if it names
  // another run. An event that names no run belongs to this run.
  absl::Status CheckRun(const Event& event) const;

  // Applies one event. An error changes only the sequence of the event's source and the count of
  // rejected events; an error of CheckRun() changes nothing:
  //   FailedPrecondition  the job has not been opened
  //   InvalidArgument     the event contradicts the shape of the job (a task or partition that it
  //                      does not have)
  //   ResourceExhausted   a limit; ExceededLimit() (tidemark/limit.h) names it
  // A duplicate event is OK and changes nothing. Amortised O(size of the event).
  absl::Status Apply(const Event& event);

  // Returns the estimate at `now`, which must not precede the `now` of the last call. If the job is
  // not open, sets only the IDs and the time. Each call increments the sequence number, but the
  // final snapshot is repeated. The reference stays valid until the next call.
  const Snapshot& Tick(absl::Time now);
  // Returns the cost of the last Tick() in steps. Each visited stage, group, task and edge counts
  // as one step, and each stage with remaining tasks as several. An ended stage counts as one step,
  // regardless of its number of tasks. A step takes about one microsecond of processor time.
  std::size_t tick_steps() const;

  // Returns the predicted starts and ends of stages at the last Tick(), for a job that is not
  // MapReduce. The job's own stages come first, by number; stages of past runs that the job has not
  // opened follow. Empty if there is no forecast.
  const std::vector<StageForecast>& stage_forecasts() const;

  // Returns the attempts of the job's tasks as of the last event, with their remaining work as of
  // the last Tick(). `now` must not precede that tick. Empty for a monitor made by OfEnded(). O(n
  // log n) for n attempts.
  JobTasks ListTasks(const TaskQuery& query, absl::Time now) const;
  // Returns at most `most` of the ends predicted so far, evenly spread. Empty for a monitor made
  // by OfEnded().
  std::vector<PastForecast> PastForecasts(std::size_t most) const;

  // Returns the result of the last Tick(), or a snapshot with sequence 0 before the first.
  const Snapshot& job() const;

  // has_news() returns true if events have arrived since the last Tick().
  bool is_open() const;
  bool has_news() const;
  // Returns the name of the job, or an empty string if unknown.
  const std::string& name() const;
  // Returns the name under which past runs of the job are stored: that of its node in a workflow,
  // otherwise name(). O(nodes + edges of the workflow).
  std::string history_name() const;
  // Returns the values that sources have reported about the job, without its stages. Returns null
  // before is_open() and for a monitor made by OfEnded().
  const JobOpened* opened() const;
  // Returns true if Tick() has returned or will return a final snapshot.
  bool is_closed() const;

  // Returns the estimated memory for limits.state_bytes_max, or 0 for a monitor made by OfEnded().
  std::size_t state_bytes() const;

  // Returns the UID of the run, or an empty string if it is unknown or the engine reports none.
  const std::string& run_uid() const;

  // Returns the last accepted or rejected sequence of a source, or 0 for an unknown source.
  std::uint64_t accepted_sequence(const std::string& source_id) const;
  // Returns the last sequences of all sources, sorted by source ID.
  std::vector<AcceptedSequence> accepted_sequences() const;
  // Returns the summary of the run so far; empty for a monitor made by OfEnded(). O(tasks · size
  // bins).
  JobSummary Summary() const;
  // Returns the finished key groups that reduce tasks should report by name: sampled groups, and
  // groups at least as large as the smallest explicit key. That size may lag behind by a sixteenth
  // of the map profiles, which keeps frequent calls cheap.
  NamedGroups wanted_names() const;

  // Returns the task times of the remaining stages at the last Tick(), for estimates of jobs that
  // share a cluster, or null if unknown. For internal use.
  std::shared_ptr<const durations::RemainingStages> stages_left() const;

  // Returns true if an indicator needs the points of reduce profiles in addition to their bins.
  bool wants_points() const;

  // Sets past runs of the same job, newest first, or of other jobs if the job has none. Keeps at
  // most kPastRunsMax runs. Should be called before the first Tick(), so that forecasts begin with
  // the job. Later calls replace the runs.
  static constexpr std::size_t kPastRunsMax = 8;
  void SetPastRuns(std::vector<PastRun> runs);

  // Returns the state after the last Tick() as opaque bytes. A monitor that applies the same events
  // and resumes from these bytes continues exactly like this one, to the last bit. O(tasks · size
  // bins + explicit keys); a few tens of kilobytes for most jobs.
  std::string Checkpoint() const;
  // Continues from a checkpoint of the same job and options made by the same version of this
  // library. Fails with InvalidArgument for any other bytes; the monitor must not be used
  // afterwards.
  absl::Status Resume(const std::string& checkpoint);

  // Records that a new master restored the job from its log at `now`. The sources' silence before
  // `now` does not end the job, which is abandoned no earlier than `now` + abandon_after. The
  // estimate still stops, and Snapshot::silent_since reports the silence, counted from `now`. If
  // set, `limits` replaces the previous limits.
  void NoteRestart(absl::Time now, const std::optional<JobLimits>& limits = {});
  // Records that events are missing from `now` until the next event. Running attempts may have
  // ended meanwhile, so an attempt is reported as a straggler only after another event mentions it.
  void NoteGap(absl::Time now);
  // Records that a part of the log was lost before a restart. Adds a note, widens intervals as for
  // lost events, and skips all sequence numbers that lost ticks may have used. Has no effect on a
  // job that is not open or has ended.
  void NoteDamage(const LogDamage& damage);
  // Counts an event that could not be parsed, for Coverage. If `event` names its source and
  // sequence, the event does not count as lost, and a duplicate changes nothing.
  void CountRejected(const AcceptedSequence& event = {});
  // Adds a line to Snapshot::notes unless it is already there.
  void AddNote(const std::string& note);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
