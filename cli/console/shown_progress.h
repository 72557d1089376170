// What a person is shown of a job's fractions.
//
// An estimate may go back when the job turns out longer than thought; a bar that goes back reads as
// a fault. So the bar waits until the estimate has caught up, while the remaining time, which is
// always the newest, says what has changed. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tidemark/snapshot.h"

namespace tidemark::console {

// `fraction_done` as it may be shown: 0 if it is not a number, within 0..1, and 1 only for a job
// that has succeeded.
double ShownFraction(double fraction_done, const Snapshot& snapshot);

// The same in whole percent, cut: 100 only for a job that has succeeded.
int ShownPercent(double fraction_done, const Snapshot& snapshot);

class ShownProgress {
 public:
  // `snapshot` with the fractions of forecasts and phases replaced by the ones to show: each at
  // least what it was in the snapshot before. Another job, or one whose sequence numbers begin anew
  // because its master did, is shown from its own beginning.
  Snapshot Next(Snapshot snapshot);

 private:
  std::string job_id_;
  std::uint64_t sequence_ = 0;
  std::map<std::string, double> of_indicators_;
  std::map<Phase, double> of_phases_;
};

}  // namespace tidemark::console
