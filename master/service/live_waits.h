// What all jobs of a master wait for (blame::ClusterWaits), fed by the threads that take events in.
//
// Whoever reports waits for nobody who asks, unless the inbox is full. Thread-safe. Kept in memory
// only: what came before the master started is not known.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "master/blame/cluster_waits.h"
#include "master/blame/data_growth.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"
#include "tidemark/past_run.h"

namespace tidemark::service {

class LiveWaits {
 public:
  explicit LiveWaits(const blame::ClusterLimits& limits = {}) : waits_(limits) {}

  // A job that ran before the master started, before any event of it: what was until `now` was not
  // seen.
  void Resume(const std::string& job_id, const std::string& run_uid, absl::Time now);

  // An event that was taken, in order within its source, and none twice. O(1).
  void Observe(const Event& event);

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
  static constexpr std::size_t kInboxMax = 100'000;  // taste: some tens of megabytes
  // REQUIRES: mutex_ is held.
  void TakeIn();

  std::mutex inbox_mutex_;  // guards both inboxes; taken after mutex_ where both are held
  std::vector<Event> inbox_;
  std::vector<std::pair<std::string, blame::EarlierData>> earlier_inbox_;  // by job
  std::mutex mutex_;                                                       // guards all below
  blame::ClusterWaits waits_;
  absl::Time advanced_at_ = absl::InfinitePast();
  absl::Time forgot_at_ = absl::InfinitePast();
};

}  // namespace tidemark::service
