// Times one reduce function on one key group, alone and in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/group_merge.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/output.h"
#include "tidemark/agent.h"

namespace tidemark::bench {

// Counts the calls of a reduce function to its task agent. Records them with times on request.
class GroupProbe final : public ReduceTaskAgent {
 public:
  // Resets the counters, and records them about every `values_step` values and `emitted_step`
  // bytes. 0 disables recording.
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
  // Returns the recorded points and the end after `seconds`, thinned to about `points` points,
  // evenly in time.
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

// A time covers one call of the reduce function including its input, or the mean of several very
// short calls. The cost of reading the clock is subtracted.
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
  // Also records the curve of a group that emits this number of bytes.
  absl::StatusOr<Times> TimeAndDraw(GroupRecords& group, std::uint64_t emitted_bytes);
  // Returns the seconds of one pass over all groups.
  absl::StatusOr<double> TimeTogether(std::span<GroupRecords> groups);

 private:
  absl::StatusOr<double> Call(std::span<GroupRecords> groups, int calls);
  absl::StatusOr<double> Call(GroupRecords& group, int calls) { return Call({&group, 1}, calls); }
  absl::Status Reduce(GroupRecords& group);

  examples::Job& job_;
  double clock_seconds_ = 0;  // cost of reading the clock
  GroupProbe probe_;
  examples::Output output_;
};

}  // namespace tidemark::bench
