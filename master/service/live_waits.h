// The waits of all jobs of a master (waits::ClusterWaits), fed by the threads that receive events.
//
// Threads that report never wait for threads that query: events gather in an inbox, which a thread
// that may block empties. When the inbox is full, jobs with many events in it must wait, and others
// need not. Thread-safe. Stored in memory only: waits before the start of the master are unknown.
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
#include "master/waits/cluster_waits.h"
#include "master/waits/own_causes.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"
#include "tidemark/past_run.h"
#include "transport/turn_queue.h"

namespace tidemark::service {

// Returns the part of an event that is about waits, or nullopt if it has none. Keeps only the
// longest key group, since all together are large. Pure.
std::optional<Event> EventOfWaits(const Event& event);

// Returns the input sizes of past runs of the same job. Pure.
waits::PastInput PastInputOf(std::span<const PastRun> runs);

class LiveWaits {
 public:
  // `aside` empties the inbox and must be stopped before this object is destroyed. If null, the
  // thread that fills the inbox empties it, as in tests.
  explicit LiveWaits(const waits::ClusterLimits& limits = {}, transport::TurnQueue* aside = nullptr)
      : aside_(aside), waits_(limits) {}

  // Adds a job that ran before the master started, before any of its events. Its waits until `now`
  // are unknown.
  void Resume(const std::string& job_id, const std::string& run_uid, absl::Time now);

  // Adds an accepted event, in order within its source, without duplicates. O(1).
  void Observe(const Event& event);
  // Returns whether another event of the job should be accepted. If not, calls `when_room` once, on
  // any thread, when that may have changed.
  bool HasRoomFor(const std::string& job_id, const std::function<void()>& when_room);

  // Sets the input sizes of past runs of a job that was observed. O(their stages).
  void SetPastRuns(const std::string& job_id, std::span<const PastRun> runs);

  // Folds the inbox at most once a second, and drops jobs for which `is_known` returns false: no
  // reader can query them.
  void Advance(absl::Time now, const std::function<bool(const std::string& job_id)>& is_known);

  // Returns nullopt if the job has sent no event.
  std::optional<Explanation> Ask(const std::string& job_id, const ExplainQuestion& question);

  // As ClusterWaits::Losses().
  std::vector<waits::LossesTo> Losses(const std::string& job_id,
                                      const std::set<waits::QueryName>& to, std::size_t most,
                                      const std::optional<absl::Duration>& last);
  // As ClusterWaits::Costs().
  std::vector<waits::CostOf> Costs(const std::string& job_id, const std::set<waits::QueryName>& to,
                                   std::size_t most, const std::optional<absl::Duration>& last);

 private:
  // Chosen by hand: some tens of megabytes. Half of it triggers a drain. Jobs with few events may
  // fill it to twice as many.
  static constexpr std::size_t kInboxMax = 100'000;
  // REQUIRES: mutex_ is held.
  void DrainInbox();
  void ScheduleDrain();

  transport::TurnQueue* const aside_;
  std::atomic<std::size_t> inbox_size_ = 0;
  std::mutex inbox_mutex_;  // guards the next five; taken after mutex_ where both are held
  std::vector<Event> inbox_;
  absl::flat_hash_map<std::string, std::size_t> inbox_of_jobs_;  // number of these events by job id
  std::vector<std::function<void()>> when_room_;
  bool is_drain_scheduled_ = false;
  std::vector<std::pair<std::string, waits::PastInput>> earlier_inbox_;  // by job
  std::mutex mutex_;                                                     // guards all below
  waits::ClusterWaits waits_;
  absl::Time advanced_at_ = absl::InfinitePast();
  absl::Time pruned_at_ = absl::InfinitePast();
};

// Computes the waits of an ended job from the logs of a data directory, for a master that was
// started after the end.

// The logs of an ended job and of the jobs that ran at the same time.
struct LogsOfRun {
  std::string own;
  std::vector<std::string> others = {};
  absl::Time ended_at;
};

struct PastWaits {
  waits::ClusterWaits waits;
  bool is_partial = false;  // a log was damaged, or was left out because of its size
};

// Reads at most 256 MiB and 100 logs. Errors: the job's own log is larger or cannot be read.
// O(bytes of the logs).
absl::StatusOr<PastWaits> ReadPastWaits(const LogsOfRun& logs);

}  // namespace tidemark::service
