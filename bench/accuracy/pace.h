// Tracks the speed of the machine during measurements, by the job itself.
//
// Other programs slow this one down by half and more, for minutes, so key groups in the middle
// would seem more expensive. The same few key groups are therefore timed repeatedly, and all others
// are corrected by them. They are too few to measure memory contention; several passes over all key
// groups address that (measure.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bench/accuracy/group_merge.h"
#include "bench/accuracy/group_timer.h"

namespace tidemark::bench {

class Pace {
 public:
  // `timer` must outlive this object.
  explicit Pace(GroupTimer& timer) : timer_(timer) {}

  // Adds a key group of this duration. The first ones are timed again.
  void Offer(const GroupRecords& group, double seconds);
  // Times them if due, before the group of index `next_group` is measured in `pass`.
  absl::Status Note(std::size_t pass, std::uint32_t next_group);
  // Divides `seconds`, by pass and group, by the slowdown of the machine at that time. Returns the
  // largest factor.
  double Correct(std::vector<std::vector<float>>& seconds) const;

 private:
  GroupTimer& timer_;
  std::vector<GroupRecords> known_;
  double known_seconds_ = 0;  // approximate total of the known key groups
  double next_at_ = 0;        // by the thread's clock
  // Readings: the next pass and group, and the duration of the known groups.
  std::vector<std::pair<std::size_t, std::uint32_t>> next_groups_;
  std::vector<double> seconds_;
};

}  // namespace tidemark::bench
