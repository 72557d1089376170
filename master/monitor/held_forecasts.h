// Repeats published forecasts of stages while they hold, so that deltas omit them.
//
// The forecast of a waiting stage changes slightly at every tick, as do the forecasts of all later
// stages. A delta of 1,000 stages would then contain all of them. Therefore a published forecast is
// repeated, aged as readers of deltas age it, while the new forecast differs little. The limit is a
// 32nd of its median or of the width of its interval, whichever is larger. At most kRefreshedMax
// other forecasts of stages that have not started are renewed per tick, the largest differences
// first. After all forecasts jump, the forecast of a distant stage may therefore be several ticks
// old, at most 80 for 1,000 stages. The forecast of the job is always current.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/checkpoint.h"
#include "master/facts/job_record.h"
#include "tidemark/job.h"

namespace tidemark {

template <class Archive>
void serialize(Archive& archive, Range& range) {
  archive(range.median, range.lower, range.upper);
}

template <class Archive>
void serialize(Archive& archive, Estimate& estimate) {
  archive(estimate.state, estimate.fraction_done, estimate.fraction_done_lower,
          estimate.fraction_done_upper, estimate.remaining, estimate.basis, estimate.known_share,
          estimate.indicator, estimate.method);
}

template <class Archive>
void serialize(Archive& archive, NamedTask& task) {
  archive(task.attempt.stage, task.attempt.index, task.attempt.attempt, task.attempt.stage_attempt,
          task.child, task.host, task.remaining, task.explicit_groups_left,
          task.heaviest_group_bytes, task.heaviest_group_share, task.in_heaviest_group, task.reason,
          task.waits_for_slot);
}

namespace monitor {

// The forecasts of one job. Not thread-safe. Memory: about 200 bytes per stage with a forecast.
class HeldForecasts {
 public:
  // Limits the size of a delta. Twelve forecasts take about 800 bytes.
  static constexpr std::size_t kRefreshedMax = 12;

  // Makes the forecasts of `snapshot` consistent with each other and with the end of the job
  // (ReconcileForecasts()). Then repeats forecasts of the previous call that still hold, and rounds
  // other long forecasts to whole seconds. O(n log n) for n stages and edges.
  void Hold(Snapshot& snapshot, bool ends_with_stages = true);

  // Repeats the first of the previous call's tasks and its reason for kReasonHeld, so that people
  // can read the reason. Replaces it at once if the task or its named key group has ended.
  void HoldReason(const facts::JobRecord& state, absl::Time now, std::vector<NamedTask>& named);
  static constexpr absl::Duration kReasonHeld = absl::Seconds(5);

  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at_, of_stages_, first_, first_key_, first_since_, first_at_);
  }

 private:
  struct Forecast {
    std::optional<Range> starts_in;
    std::optional<Range> ends_in;
    std::optional<absl::Duration> task_time;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(starts_in, ends_in, task_time);
    }
  };

  static Forecast ForecastOf(const StageProgress& stage);
  static double Difference(const Forecast& held, const Forecast& newer);

  absl::Time at_;                                // time of the previous call
  std::map<std::uint32_t, Forecast> of_stages_;  // by number
  std::optional<NamedTask> first_;               // the first of the published tasks
  std::optional<KeyHash> first_key_;             // its key group in progress, if its reason
  absl::Time first_since_;                       // time of the first snapshot with its reason
  absl::Time first_at_;                          // time of its remaining time
};

}  // namespace monitor
}  // namespace tidemark
