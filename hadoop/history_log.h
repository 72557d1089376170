// The history of a MapReduce job as events of Tidemark.
//
//   const auto log = HistoryLog::Open("/history/job_1700000000000_0001-1700....jhist");
//   for (auto event = (*log)->Next(); event.ok() && *event; event = (*log)->Next()) ...
//
// Yields the events that the connector would have reported, as far as a history contains them:
//
//   history's event             events of Tidemark
//
//   JOB_SUBMITTED, JOB_INITED   JobOpened, with the workflow that the configuration names
//   JOB_INITED                  StageOpened of the map stage, ExecutorOpened of each host
//   *_ATTEMPT_STARTED           AttemptChanged; before the first reduce task, StageOpened
//   *_ATTEMPT_FINISHED          AttemptChanged for the sort and for the end, and the counters of
//                               the attempt as TaskHeartbeat or ReduceProfile
//   *_ATTEMPT_FAILED, _KILLED   AttemptChanged; the output of a finished attempt is then lost
//   TASK_FAILED                 AttemptChanged with task_failed
//   JOB_FINISHED, _FAILED, ...  JobClosed
//
// A history lacks the progress of running tasks, key groups, and waits for processors. The time of
// a sort is in the event of the attempt's end, so the whole file is read before the first event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hadoop/configuration.h"
#include "hadoop/history_file.h"
#include "tidemark/event.h"

namespace tidemark::hadoop {

// All events come from one source with a correct clock: sent_at and arrived_at are the times in the
// history, in ascending order. Not thread-safe. Memory: O(attempts), within kAttemptsMax.
class HistoryLog {
 public:
  static constexpr std::size_t kAttemptsMax = 1'000'000;

  // Reads a file and, if the history server has put it beside the file, the job's configuration
  // (job_ID_conf.xml). Errors name the file. Fails with InvalidArgument if it is not a history
  // file, lacks the submission of the job, or has more tasks than wire::EventLimits allows. Fails
  // with ResourceExhausted beyond kAttemptsMax attempts, with Unavailable if it cannot be read, and
  // with Cancelled if `is_stopped` returns true.
  static absl::StatusOr<std::unique_ptr<HistoryLog>> Open(const std::string& path,
                                                          IsStopped is_stopped = nullptr);
  // Reads a history from `input`. Errors do not name it.
  static absl::StatusOr<std::unique_ptr<HistoryLog>> Read(std::unique_ptr<std::istream> input,
                                                          const Configuration& configuration);

  // Returns the next event, or nullopt at the end. Fails with DataLoss after the last event if the
  // remainder of a binary file could not be read. Each later call then returns the same error.
  absl::StatusOr<std::optional<Event>> Next();

  // Returns true if the file ends within an event or has lines that are not events.
  bool has_damage() const { return is_cut_ || broken_lines_ > 0; }
  // Returns human-readable remarks on missing and impossible events, one sentence each. `rejected`
  // is the number of events that a JobMonitor did not accept.
  std::vector<std::string> Remarks(std::uint64_t rejected) const;

 private:
  static constexpr std::uint32_t kNoHost = UINT32_MAX;
  struct Attempt {
    AttemptId id;
    std::uint32_t host = kNoHost;  // index into hosts_
    AttemptState end = AttemptState::kStarted;
    bool is_speculative = false;
    // Milliseconds since 1970; 0 if unknown.
    std::int64_t started = 0;
    std::int64_t fetched = 0;
    std::int64_t sorted = 0;
    std::int64_t ended = 0;
    std::int64_t lost = 0;          // when its finished output was lost
    std::int64_t given_up = 0;      // when its task failed permanently
    std::uint64_t input_bytes = 0;  // of a map task, or fetched by a reduce task
    std::uint64_t input_records = 0;
    std::uint64_t output_bytes = 0;
    std::uint64_t groups = 0;
    std::int64_t cpu_millis = 0;
    std::int64_t collection_millis = 0;
    std::string failure;
  };
  struct Host {
    std::string name;
    std::uint32_t slots = 0;  // largest number of attempts that ran at once
  };
  struct JobEnd {
    std::int64_t at = 0;
    JobOutcome outcome = JobOutcome::kSucceeded;
    std::string message;
  };
  enum class StepKind : std::uint8_t {
    kOpenJob,
    kOpenStage,
    kStart,
    kFetch,
    kSort,
    kEnd,
    kLose,
    kGiveUp,
    kCloseJob
  };
  // One or several events at the same time.
  struct Step {
    std::int64_t at = 0;
    std::uint8_t rank = 0;  // order of steps at the same time
    StepKind kind = StepKind::kOpenJob;
    std::uint32_t index = 0;  // of an attempt or a stage
  };

  HistoryLog() = default;
  absl::Status ReadAll(HistoryFile& file, const Configuration& configuration);
  absl::Status Observe(const HistoryRecord& record);
  void ObserveSubmission(const nlohmann::json& fields);
  absl::Status ObserveStart(const nlohmann::json& fields);
  void ObserveEnd(const nlohmann::json& fields, bool has_succeeded, bool was_killed);
  void ObserveTaskFailure(const nlohmann::json& fields);
  void ObserveJobEnd(const nlohmann::json& fields, bool has_succeeded);
  static void AddCounters(const nlohmann::json& fields, Attempt& attempt);
  Attempt* Find(const nlohmann::json& fields);
  std::uint32_t HostNamed(const std::string& name);
  std::optional<std::int64_t> MillisIn(const nlohmann::json& fields, const char* name) const;
  void CorrectTimes();
  void ScaleFetches();
  void Plan();
  void CountHostSlots();
  void Perform(const Step& step);
  void OpenStage(std::uint32_t stage, std::int64_t at);
  std::vector<std::uint64_t> SplitBytes() const;
  void End(const Attempt& attempt);
  static AttemptChanged ChangeOf(const Attempt& attempt, AttemptState state, std::int64_t at);
  void Emit(std::int64_t at, EventBody body);

  JobOpened job_;
  std::string job_id_;
  std::int64_t submitted_ = 0;
  std::int64_t inited_ = 0;
  bool is_inited_ = false;
  std::uint32_t map_count_ = 0;
  std::uint32_t reduce_count_ = 0;
  std::optional<JobEnd> end_;
  std::vector<Attempt> attempts_;
  absl::flat_hash_map<std::uint64_t, std::uint32_t> places_;  // index of an attempt, by its id
  std::vector<Host> hosts_;
  absl::flat_hash_map<std::string, std::uint32_t> host_numbers_;
  std::size_t failure_bytes_ = 0;
  std::vector<Step> steps_;
  std::size_t next_step_ = 0;
  std::deque<Event> events_;
  std::uint64_t sequence_ = 0;
  absl::Status damage_;
  std::uint64_t contradictions_ = 0;
  std::uint64_t broken_lines_ = 0;
  std::uint64_t first_broken_line_ = 0;
  bool is_cut_ = false;
};

}  // namespace tidemark::hadoop
