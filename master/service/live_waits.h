// The waits of all jobs of a master (blame::ClusterWaits), fed by the threads that receive events.
//
// Threads that report never wait for threads that query: events gather in an inbox, which a thread
// that may wait empties. When the inbox is full, jobs with many events in it are asked to wait, and
// others are not. Thread-safe. Kept in memory only: waits from before the master's start are
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
#include "absl/time/time.h"
#include "master/waits/cluster_waits.h"
#include "master/waits/data_growth.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"
#include "tidemark/past_run.h"
#include "transport/turn_queue.h"

namespace tidemark::service {

class LiveWaits {
 public:
  // `aside` empties the inbox and must have been stopped before this object is destroyed. If null,
  // the thread that fills the inbox empties it, as tests need.
  explicit LiveWaits(const blame::ClusterLimits& limits = {}, transport::TurnQueue* aside = nullptr)
      : aside_(aside), waits_(limits) {}

  // A job that ran before the master started, before any event of it: what was until `now` was not
  // seen.
  void Resume(const std::string& job_id, const std::string& run_uid, absl::Time now);

  // An event that was taken, in order within its source, and none twice. O(1).
  void Observe(const Event& event);
  // Returns whether another event of the job should be taken. If not, calls `when_room` once, on
  // any thread, when that may have changed.
  bool HasRoomFor(const std::string& job_id, const std::function<void()>& when_room);

  // Earlier runs of a job that was observed, for what they read. O(their stages).
  void SetPastRuns(const std::string& job_id, std::span<const PastRun> runs);

  // Once in a while; does nothing within a second after the last time. `is_known`: whether
  // anybody may still ask about a job; those of others are forgotten.
  void Advance(absl::Time now, const std::function<bool(const std::string& job_id)>& is_known);

  // Empty: nothing was seen of the job.
  std::optional<Explanation> Ask(const std::string& job_id, const ExplainQuestion& question);

  // As ClusterWaits::Losses().
  std::vector<blame::LossesTo> Losses(const std::string& job_id,
                                      const std::set<blame::QueryName>& to, std::size_t most,
                                      const std::optional<absl::Duration>& last);
  // As ClusterWaits::Costs().
  std::vector<blame::CostOf> Costs(const std::string& job_id, const std::set<blame::QueryName>& to,
                                   std::size_t most, const std::optional<absl::Duration>& last);

 private:
  // Chosen by hand: some tens of megabytes. The inbox is emptied from half of it on; jobs with few
  // events there may fill it to twice as many.
  static constexpr std::size_t kInboxMax = 100'000;
  // REQUIRES: mutex_ is held.
  void TakeIn();
  void TakeInSoon();

  transport::TurnQueue* const aside_;
  std::atomic<std::size_t> inbox_size_ = 0;
  std::mutex inbox_mutex_;  // guards the next five; taken after mutex_ where both are held
  std::vector<Event> inbox_;
  absl::flat_hash_map<std::string, std::size_t> inbox_of_jobs_;  // how many of these, by id
  std::vector<std::function<void()>> when_room_;
  bool is_taken_in_soon_ = false;
  std::vector<std::pair<std::string, blame::EarlierData>> earlier_inbox_;  // by job
  std::mutex mutex_;                                                       // guards all below
  blame::ClusterWaits waits_;
  absl::Time advanced_at_ = absl::InfinitePast();
  absl::Time forgot_at_ = absl::InfinitePast();
};

}  // namespace tidemark::service
