// Who slowed a job down: what its queries waited for, where, and because of which others.
//
// A query is what people wait for within a job: a SQL execution, or a job of Spark outside of any;
// a job that names none is one query without a name. Seconds are those by which the query ended
// later: of stages that followed one another, never of two at once. Empty: not told, which is not
// zero.
//
// Plain values, safe to share between threads as long as none of them changes one. What they mean,
// and what cannot be known: docs/blame.md.
// Source: docs/references.md [PX].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark {

// What tasks wait for: a slot, a processor, memory, the network, a disk.
//
// They stand in the order in which a task meets them, and in which tables show them.
enum class WaitedResource : std::uint8_t { kScheduler, kProcessor, kMemory, kNetwork, kIo };
inline constexpr std::size_t kWaitedResourceCount = 5;
inline constexpr std::array<WaitedResource, kWaitedResourceCount> kWaitedResources = {
    WaitedResource::kScheduler, WaitedResource::kProcessor, WaitedResource::kMemory,
    WaitedResource::kNetwork, WaitedResource::kIo};

// One value of each resource; those that nobody set are as T begins.
template <typename T>
class PerResource {
 public:
  T& operator[](WaitedResource resource) { return values_[static_cast<std::size_t>(resource)]; }
  const T& operator[](WaitedResource resource) const {
    return values_[static_cast<std::size_t>(resource)];
  }
  friend bool operator==(const PerResource&, const PerResource&) = default;

 private:
  std::array<T, kWaitedResourceCount> values_{};
};

// A query that took what another waited for.
struct Culprit {
  // Empty: of a job that the reader may not see, or that is forgotten.
  std::string job_id;
  // Of that job; empty: it names none, or is not to be seen.
  std::string query;
  // That stand behind an empty job_id; 0: none, it is what no task reported, such as processes that
  // are nobody's job, or threads beside those of tasks.
  std::uint32_t jobs = 1;
  WaitedResource resource = WaitedResource::kScheduler;
  // Where it took it. Empty: slots, which are not of one host.
  std::string host;
  // By which the other query ended later because of this one.
  double seconds = 0;
  // At least that, had others taken what it would have left; at most that: no more than was waited
  // in all, nor than its tasks were beside those that waited. Empty: not told.
  std::optional<double> seconds_lower;
  std::optional<double> seconds_upper;
  // How much sooner the job that was asked about would end if this query were gone from now on, for
  // all that it takes of any resource on any host: the median, and the limits of nine of ten cases.
  // Of one that has ended: how much sooner it would have, had this query not been there, with
  // limits like those above. Empty: three others took more, or the query is one of the job's own;
  // and while the job runs where nothing is predicted of it, or the query runs no task now.
  std::optional<double> sooner_seconds;
  std::optional<double> sooner_seconds_lower;
  std::optional<double> sooner_seconds_upper;
  friend bool operator==(const Culprit&, const Culprit&) = default;
};

// How long one query waited for one resource.
struct QueryWait {
  // Of all its stages. Empty: no task has told.
  std::optional<double> seconds;
  // Some tasks did not tell.
  bool is_least = false;
  friend bool operator==(const QueryWait&, const QueryWait&) = default;
};

// How much longer tasks ran because they read more than in earlier runs of their job, if their time
// goes with what they read.
//
// Of stages that read markedly more than before, and by more than earlier runs differ.
struct DataGrowth {
  // Summed over tasks, unlike all other seconds here.
  double task_seconds = 0;
  // With the most and the least that was read before. Empty: of a stage only one earlier run
  // is known.
  std::optional<double> task_seconds_lower;
  std::optional<double> task_seconds_upper;
  // What the tasks of these stages that have ended read, and what those of the same stages read in
  // the median of earlier runs.
  double read_bytes = 0;
  double earlier_read_bytes = 0;
  // Of which task_seconds are a part: what all tasks of the query that have ended took, what they
  // waited for processors and memory taken off. 0: not told.
  double all_task_seconds = 0;
  friend bool operator==(const DataGrowth&, const DataGrowth&) = default;
};

// The attempt that took longest of those that ended well, and its longest key group.
//
// Seconds are from start to end, with what was waited.
struct LongestTask {
  AttemptId attempt;
  // Of its stage; kUnknown: not told.
  StageKind kind = StageKind::kUnknown;
  // Empty: not told.
  std::string host;
  double seconds = 0;
  // What the mean task of its stage took, itself among them.
  double mean_seconds = 0;
  // The key group in which it was longest, of those that were timed by themselves, and for how
  // long. 0: none is known.
  std::uint64_t group_bytes = 0;
  double group_seconds = 0;
  friend bool operator==(const LongestTask&, const LongestTask&) = default;
};

// What one query waited for, and because of whom.
struct QueryWaits {
  // Its name; empty: the job names none.
  std::string query;
  // From its start to its end, or until now.
  std::optional<double> seconds;
  // Slots: only what others held, while no slot was free. The rest: whoever caused it.
  PerResource<QueryWait> waits;
  // Its own doing, beside neighbours: by so much the longest task of a stage took longer than the
  // mean one, what they waited taken off. Empty: no stage of several tasks has ended.
  std::optional<double> skew_seconds;
  // Of all stages that followed one another. Empty: no task has ended, or it took
  // longer than others mostly for what it waited.
  std::optional<LongestTask> longest_task;
  // Nobody else's doing either. Empty: no growth is known of.
  std::optional<DataGrowth> data_growth;
  // The worst first.
  std::vector<Culprit> culprits;
  friend bool operator==(const QueryWaits&, const QueryWaits&) = default;
};

// The answer to an ExplainQuestion: one of each query that it asks for.
struct Explanation {
  // The job that was asked for, and which run of it.
  std::string job_id;
  std::string run_uid;
  // Until when, by the master's clock.
  absl::Time at;
  // From when on the job was seen.
  absl::Time since;
  // It ran before, or there was no room for all of it.
  bool is_partial = false;
  // In the order in which they began.
  std::vector<QueryWaits> queries;
  // Older ones.
  std::uint32_t queries_left_out = 0;
  // The job, so that `sooner_seconds` look back.
  bool has_ended = false;
  // The job ended after `at`: what it waited for since then is told once the reports of other tasks
  // that ran meanwhile are in.
  bool more_to_come = false;
  // Of a question that names a host: all hosts, by name, on which tasks of these queries were seen,
  // in `last` if it names that, too. Empty: the question names none, or no host of a task is known.
  std::vector<std::string> hosts;
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

// What to explain. Empty: all.
struct ExplainQuestion {
  // One query of the job by its name, such as sql/3.
  std::string query;
  // Only waits for this one.
  std::optional<WaitedResource> resource;
  // Slots are of none.
  std::string host;
  // Of each query.
  std::size_t culprits_max = 3;
  // The newest.
  std::size_t queries_max = 200;
  // Only what was waited in so much time, in minutes.
  std::optional<absl::Duration> last;
  friend bool operator==(const ExplainQuestion&, const ExplainQuestion&) = default;
};

}  // namespace tidemark
