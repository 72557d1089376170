// Short constructors of events:
//
//   Source app("app-master");
//   Fold(app.At(0, Opened(2, 1)));
//   Fold(app.At(1, Started(M(0))));
//
// Times are in seconds after kBegin. They are the same for all clocks unless a test states
// otherwise.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "master/facts/fold.h"
#include "master/facts/job_record.h"
#include "tests/test.h"
#include "tidemark/event.h"

namespace tidemark::test {

inline const absl::Time kBegin = absl::FromUnixSeconds(1'700'000'000);
inline absl::Time At(double seconds) { return kBegin + absl::Seconds(seconds); }

// Creates events with increasing sequence numbers.
class Source {
 public:
  explicit Source(std::string source_id = "app-master", std::string job_id = "job-1",
                  std::string run_uid = "")
      : source_id_(std::move(source_id)),
        job_id_(std::move(job_id)),
        run_uid_(std::move(run_uid)) {}

  // Returns an event that is sent and received `seconds` after kBegin.
  Event At(double seconds, EventBody body) {
    return {.job_id = job_id_,
            .run_uid = run_uid_,
            .source_id = source_id_,
            .sequence = ++sequence_,
            .sent_at = test::At(seconds),
            .arrived_at = test::At(seconds),
            .body = std::move(body)};
  }

 private:
  std::string source_id_;
  std::string job_id_;
  std::string run_uid_;
  std::uint64_t sequence_ = 0;
};

inline AttemptId M(std::uint32_t index, std::uint32_t attempt = 0) {
  return {kMapStage, index, attempt};
}
inline AttemptId R(std::uint32_t index, std::uint32_t attempt = 0) {
  return {kReduceStage, index, attempt};
}

inline JobOpened Opened(std::optional<std::uint32_t> maps = {},
                        std::optional<std::uint32_t> reduces = {}) {
  return {.name = "word count", .stages = MapReduceStages(maps, reduces)};
}
inline StageOpened& MapStage(JobOpened& opened) { return opened.stages[kMapStage]; }
inline StageOpened& ReduceStage(JobOpened& opened) { return opened.stages[kReduceStage]; }
// Returns an event that reports only the slots of one stage.
inline StageOpened SlotsOf(std::uint32_t stage, std::uint32_t slots) {
  return {.stage = stage,
          .kind = stage == kMapStage ? StageKind::kMap : StageKind::kReduce,
          .slots = slots};
}
inline JobClosed Closed(JobOutcome outcome = JobOutcome::kSucceeded, std::string message = "") {
  return {outcome, std::move(message), std::nullopt};
}

inline AttemptChanged Queued(AttemptId id) { return {id, AttemptState::kQueued}; }
inline AttemptChanged Started(AttemptId id, std::optional<std::uint64_t> input_bytes = {}) {
  return {.attempt = id, .state = AttemptState::kStarted, .input_bytes = input_bytes};
}
inline AttemptChanged Shuffled(AttemptId id) { return {id, AttemptState::kShuffled}; }
inline AttemptChanged Finished(AttemptId id) { return {id, AttemptState::kFinished}; }
inline AttemptChanged Failed(AttemptId id) { return {id, AttemptState::kFailed}; }
inline AttemptChanged Killed(AttemptId id) { return {id, AttemptState::kKilled}; }
inline AttemptChanged Obsolete(AttemptId id) { return {id, AttemptState::kObsolete}; }
inline TaskHeartbeat Read(AttemptId id, std::uint64_t bytes) {
  return {.attempt = id, .bytes_done = bytes};
}

inline ExplicitKey Key(std::uint64_t hash, std::uint64_t bytes) { return {KeyHash{hash}, bytes}; }
// Returns the end of the key group of a key.
inline FinishedKey Ended(ExplicitKey key, double seconds = 0) {
  return {.key = key.key, .size_bytes = key.size_bytes, .time = absl::Seconds(seconds)};
}
// Returns a partition of `total` bytes with these explicit keys.
inline PartitionProfile Partition(std::uint32_t index, std::uint64_t total,
                                  std::vector<ExplicitKey> keys = {}) {
  return {.partition = index, .total_bytes = total, .explicit_keys = std::move(keys)};
}
inline MapProfile Emitted(AttemptId id, std::vector<PartitionProfile> partitions) {
  return {id, std::move(partitions)};
}

// Returns `count` key groups of `bytes` bytes and `seconds` seconds each.
inline GroupPoint Point(std::uint64_t bytes, double seconds, std::uint64_t count = 1) {
  return {bytes, count, absl::Seconds(seconds * static_cast<double>(count))};
}
// Returns a first reduce profile with the totals of its points.
inline ReduceProfile Reduced(AttemptId id, absl::Time last_group_finished_at,
                             std::vector<GroupPoint> points) {
  ReduceProfile profile{.attempt = id, .last_group_finished_at = last_group_finished_at};
  for (const GroupPoint& point : points) {
    profile.groups_done += point.count;
    profile.bytes_done += point.size_bytes * point.count;
    profile.reduce_time += point.total_time;
  }
  profile.points = std::move(points);
  return profile;
}
// Returns the same profile from a source that names every finished key group, with one point for
// each group.
inline ReduceProfile ReducedNamed(AttemptId id, absl::Time last_group_finished_at,
                                  std::vector<ExplicitKey> keys, double seconds_each) {
  std::vector<GroupPoint> points;
  for (const ExplicitKey& key : keys) points.push_back(Point(key.size_bytes, seconds_each));
  ReduceProfile profile = Reduced(id, last_group_finished_at, std::move(points));
  profile.keys_named = true;
  for (const ExplicitKey& key : keys) profile.finished_keys.push_back(Ended(key, seconds_each));
  return profile;
}

// Events, each with its seconds after kBegin.
using TimedEvents = std::vector<std::pair<double, EventBody>>;

// Passes the events to job.Say(), which must accept every event.
template <typename JobOfTest>
void FoldInto(JobOfTest& job, TimedEvents events) {
  for (auto& [seconds, body] : events) {
    const absl::Status folded = job.Say(seconds, std::move(body));
    EXPECT_TRUE(folded.ok()) << folded << ", at " << seconds;
  }
}

// A job with one source for all events.
struct Job {
  facts::JobRecord state{/*lambda=*/10};
  JobLimits limits;
  Source source;

  absl::Status Say(double seconds, EventBody body) {
    return Take(source.At(seconds, std::move(body)));
  }
  // Adds events of one instant, which must be accepted.
  template <typename... Bodies>
  Job& Add(double seconds, Bodies... bodies) {
    for (const absl::Status& folded : {Say(seconds, std::move(bodies))...}) {
      EXPECT_TRUE(folded.ok()) << folded << ", at " << seconds;
    }
    return *this;
  }
  absl::Status Take(const Event& event) { return facts::Apply(event, limits, state); }
  void Fold(TimedEvents events) { FoldInto(*this, std::move(events)); }
};

}  // namespace tidemark::test

namespace tidemark {

using test::At;
using test::Closed;
using test::Emitted;
using test::Finished;
using test::Job;
using test::Key;
using test::Killed;
using test::M;
using test::Opened;
using test::Partition;
using test::Point;
using test::R;
using test::Reduced;
using test::Shuffled;
using test::Source;
using test::Started;

}  // namespace tidemark
