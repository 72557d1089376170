// Times a reduce function on key groups one at a time, with all records in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/accuracy/cost_log.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/sorted_records.h"
#include "examples/local_mapreduce/spill_file.h"
#include "tidemark/agent.h"

namespace tidemark::bench {

// The records of one key group in memory, readable any number of times.
class GroupRecords final : public examples::SortedRecords {
 public:
  // Removes all values, and sets the key.
  void Start(std::string_view key);
  void Append(std::string_view value);

  std::size_t count() const { return value_ends_.size(); }
  std::uint64_t size_bytes() const {
    return value_ends_.size() * group_key_.size() + bytes_.size();
  }
  std::string_view group_key() const { return group_key_; }

  // Rewinds to the first record.
  void Rewind();
  bool Next() override;

 private:
  std::string group_key_;
  std::string bytes_;
  std::vector<std::size_t> value_ends_;
  std::size_t next_ = 0;
  std::size_t next_begin_ = 0;
};

// Reads the outputs of all map tasks group by group, like a reduce task, and the part of each group
// from each map task. Yields each key group once, in key order. Its records are in the order of the
// map tasks. With m map tasks, a group takes O(log m) key comparisons per map task.
class GroupMerge {
 public:
  // The part of a group from one map task.
  struct Part {
    std::uint32_t map_task = 0;
    std::uint64_t size_bytes = 0;
  };

  // Takes one reader for each map task.
  explicit GroupMerge(std::vector<examples::SegmentReader> map_outputs);

  // Replaces `group` with the next group. Returns false at the end or after an error, which
  // status() returns.
  bool Next(GroupRecords& group);
  // Returns the parts of the last group by map task.
  const std::vector<Part>& parts() const { return parts_; }
  const absl::Status& status() const { return status_; }

 private:
  bool ComesAfter(std::uint32_t a, std::uint32_t b) const;
  void Push(std::uint32_t map_task);
  std::uint32_t Pop();
  bool Advance(std::uint32_t map_task);

  std::vector<examples::SegmentReader> readers_;
  // heap of map tasks with a current record; the smallest key is first
  std::vector<std::uint32_t> heap_;
  std::vector<Part> parts_;
  absl::Status status_;
};

// Counts the calls of a reduce function to its task agent. On request, also records the counters
// over time.
class GroupProbe final : public ReduceTaskAgent {
 public:
  // Resets the counters. Records them about every `values_step` values and every `emitted_step`
  // bytes; a step of 0 disables recording.
  void Start(std::uint64_t values_step, std::uint64_t emitted_step);

  void InputFetched(std::uint64_t /*bytes*/) override {}
  void Shuffled() override {}
  void BeginGroup(std::string_view /*key*/) override {}
  void ValueRead(std::uint64_t bytes) override {
    bytes_read_ += bytes;
    if (++values_read_ == next_values_) Note();
  }
  void BytesEmitted(std::uint64_t bytes) override {
    bytes_emitted_ += bytes;
    if (bytes_emitted_ >= next_emitted_) Note();
  }
  void EndGroup() override {}
  void Finish() override {}

  std::uint64_t bytes_emitted() const { return bytes_emitted_; }
  // Returns the recorded points and the end after `seconds`. Keeps about `points` points, evenly
  // spaced in time.
  Curve CurveUntil(double seconds, std::size_t points) const;

 private:
  struct Moment {
    double seconds = 0;
    CurvePoint counters;
  };
  void Note();

  std::uint64_t bytes_read_ = 0;
  std::uint64_t values_read_ = 0;
  std::uint64_t bytes_emitted_ = 0;
  std::uint64_t values_step_ = 0;
  std::uint64_t emitted_step_ = 0;
  std::uint64_t next_values_ = 0;
  std::uint64_t next_emitted_ = 0;
  double started_at_ = 0;
  std::vector<Moment> moments_;
};

// Measures times of key groups. A time covers one call of the reduce function including its input,
// or is the mean of several very short calls. The cost of reading the clock is subtracted.
class GroupTimer {
 public:
  // `job` must outlive this object.
  explicit GroupTimer(examples::Job& job);

  struct Times {
    double seconds = 0;  // above 0
    std::uint64_t emitted_bytes = 0;
    Curve curve;  // empty unless requested
  };
  absl::StatusOr<Times> Time(GroupRecords& group);
  // Also records the curve of a group that emits `emitted_bytes` bytes.
  absl::StatusOr<Times> TimeAndDraw(GroupRecords& group, std::uint64_t emitted_bytes);
  // Returns the duration of one pass over all groups in seconds.
  absl::StatusOr<double> TimeTogether(std::span<GroupRecords> groups);

 private:
  absl::StatusOr<double> Call(std::span<GroupRecords> groups, int calls);
  absl::StatusOr<double> Call(GroupRecords& group, int calls) { return Call({&group, 1}, calls); }
  absl::Status Reduce(GroupRecords& group);

  examples::Job& job_;
  double clock_seconds_ = 0;  // seconds that one reading of the clock takes
  GroupProbe probe_;
  examples::Output output_;
};

// Tracks the speed of the machine during measurements by timing parts of the job itself.
//
// Other programs may slow this one down by half and more for minutes, so the key groups measured in
// that time would seem more expensive. The same few key groups are therefore timed repeatedly, and
// their times correct the times of all other groups. These groups are too few to measure memory
// contention, for which measure.h makes several passes over all key groups.
class Pace {
 public:
  // `timer` must outlive this object.
  explicit Pace(GroupTimer& timer) : timer_(timer) {}

  // Adds a key group of this duration. The first groups that are added are timed repeatedly.
  void Offer(const GroupRecords& group, double seconds);
  // Times the known groups if they are due, before the group with index `next_group` is measured in
  // `pass`.
  absl::Status Note(std::size_t pass, std::uint32_t next_group);
  // Divides `seconds`, which are indexed by pass and group, by the slowdown of the machine at that
  // time. Returns the largest factor.
  double Correct(std::vector<std::vector<float>>& seconds) const;

 private:
  GroupTimer& timer_;
  std::vector<GroupRecords> known_;
  double known_seconds_ = 0;  // approximate total of the times of the known key groups
  double next_at_ = 0;        // time of the next reading by the thread's clock
  // Each reading consists of the next pass and group, and of the duration of the known groups.
  std::vector<std::pair<std::size_t, std::uint32_t>> next_groups_;
  std::vector<double> seconds_;
};

}  // namespace tidemark::bench
