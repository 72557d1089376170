// The waits of all jobs of a master (waits::ClusterWaits), fed by the threads that receive events.
//
// Threads that report never wait for threads that query. Events accumulate in an inbox, which a
// thread that may block empties. If the inbox is full, only jobs with many events in it must wait.
// Thread-safe. The waits are stored in memory only, so waits before the start of the master are
// unknown.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/waits/cluster_contention.h"
#include "master/waits/cluster_waits.h"
#include "master/waits/own_causes.h"
#include "tidemark/contention.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"
#include "tidemark/past_run.h"
#include "transport/turn_queue.h"

namespace tidemark::service {

// Returns the part of an event that concerns waits, or nullopt if no part does. Keeps only the
// longest of the key groups, which are large together. Pure.
std::optional<Event> EventOfWaits(const Event& event);

// Returns the input sizes of past runs of the same job. Pure.
waits::PastInput PastInputOf(std::span<const PastRun> runs);

class LiveWaits {
 public:
  // `aside` empties the inbox, and must be stopped before this object is destroyed. If it is null,
  // the thread that fills the inbox also empties it, as in tests.
  explicit LiveWaits(const waits::ClusterLimits& limits = {}, transport::TurnQueue* aside = nullptr)
      : aside_(aside), waits_(limits) {}

  // Adds a job that ran before the master started. Must be called before any event of the job. Its
  // waits until `now` are unknown.
  void Resume(const std::string& job_id, const std::string& run_uid, absl::Time now);

  // Adds an accepted event. Events must be added in order within their source, without duplicates.
  // O(1).
  void Observe(const Event& event);
  // Returns true if another event of the job should be accepted. Otherwise calls `when_room` once,
  // on any thread, when that may have changed.
  bool HasRoomFor(const std::string& job_id, const std::function<void()>& when_room);

  // Sets the input sizes of past runs of an observed job. O(stages of `runs`).
  void SetPastRuns(const std::string& job_id, std::span<const PastRun> runs);

  // Applies the events in the inbox, at most once a second. Drops jobs for which `is_known` returns
  // false, since no reader can query these jobs.
  void Advance(absl::Time now, const std::function<bool(const std::string& job_id)>& is_known);

  // Returns nullopt if the job has sent no event.
  std::optional<Explanation> Ask(const std::string& job_id, const ExplainQuestion& question);

  // Adds all jobs, or only the job of the question, to `sums`. Holds the lock for one job at a
  // time.
  void AddContention(waits::ContentionSums& sums);

  // See ClusterWaits::Losses().
  std::vector<waits::LossesTo> Losses(const std::string& job_id,
                                      const std::set<waits::QueryName>& to, std::size_t most,
                                      const std::optional<absl::Duration>& last);
  // See ClusterWaits::Costs().
  std::vector<waits::CostOf> Costs(const std::string& job_id, const std::set<waits::QueryName>& to,
                                   std::size_t most, const std::optional<absl::Duration>& last);

 private:
  // Number of events in a full inbox, which takes a few tens of megabytes. Chosen by hand. Half of
  // it triggers a drain. Jobs with few events may fill the inbox to twice this size.
  static constexpr std::size_t kInboxMax = 100'000;
  // REQUIRES: mutex_ is held.
  void DrainInbox();
  void ScheduleDrain();

  transport::TurnQueue* const aside_;
  std::atomic<std::size_t> inbox_size_ = 0;
  // Guards the members up to earlier_inbox_. Taken after mutex_ if both are held.
  std::mutex inbox_mutex_;
  std::vector<Event> inbox_;
  // number of events in inbox_ by job ID
  absl::flat_hash_map<std::string, std::size_t> inbox_of_jobs_;
  std::vector<std::function<void()>> when_room_;
  bool is_drain_scheduled_ = false;
  std::vector<std::pair<std::string, waits::PastInput>> earlier_inbox_;  // by job
  std::mutex mutex_;  // Guards all members below.
  waits::ClusterWaits waits_;
  absl::Time advanced_at_ = absl::InfinitePast();
  absl::Time pruned_at_ = absl::InfinitePast();
};

// Computes the waits of an ended job from the logs of a data directory, for a master that started
// after the job ended.

// The logs of an ended job, and of the jobs that ran at the same time.
struct LogsOfRun {
  std::string own;
  std::vector<std::string> others = {};
  absl::Time ended_at;
};

struct PastWaits {
  waits::ClusterWaits waits;
  bool is_partial = false;  // true if a log was damaged, or omitted because of its size
};

// Reads at most 256 MiB and 100 logs. Fails if the job's own log is larger or cannot be read.
// O(bytes of the logs).
absl::StatusOr<PastWaits> ReadPastWaits(const LogsOfRun& logs);

}  // namespace tidemark::service
