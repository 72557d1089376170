// Keeps what was published of stages for as long as it holds, so that deltas leave it out.
//
// What a stage that waits will take moves by a little at every tick, for all stages behind it as
// well, and a delta of 1,000 stages would name them all. So a forecast that was published is
// repeated, aged as readers of deltas age it, while the new one differs by less than a 32nd of its
// median or of the width of its interval, whichever is larger. Of stages that have not started,
// those that differ by more are renewed kRefreshedMax at a tick, the worst first: after a jump of
// everything the forecast of a stage far away may be that of some ticks ago, 80 at most for 1,000
// stages. What is said of the job is always of this tick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/time/time.h"
#include "master/facts/checkpoint.h"
#include "tidemark/job.h"

namespace tidemark {

template <class Archive>
void serialize(Archive& archive, Range& range) {
  archive(range.median, range.lower, range.upper);
}

namespace monitor {

// The forecasts of one job. Not thread-safe. Memory: about 200 bytes per stage with a forecast.
class HeldForecasts {
 public:
  // Most forecasts of stages that have not started that one tick renews: 12 take about 800 bytes of
  // a delta.
  static constexpr std::size_t kRefreshedMax = 12;

  // Makes the forecasts of `snapshot` agree with each other and with the end of the job
  // (ReconcileForecasts()). Then replaces forecasts by those of the previous call if these still
  // hold, and rounds the other long ones to whole seconds. O(n log n) for n stages and edges.
  void Hold(Snapshot& snapshot, bool ends_with_stages = true);

  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at_, of_stages_);
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

  absl::Time at_;                                // of the last call
  std::map<std::uint32_t, Forecast> of_stages_;  // by number
};

}  // namespace monitor
}  // namespace tidemark
