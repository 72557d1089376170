// How fast the machine works while a job is measured, told by the job itself.
//
// Other programs on a machine slow this one down by half and more, for minutes: its key groups,
// which are measured in their order, would seem to become dearer in the middle. So the same few key
// groups are timed again and again, and all others are corrected by what those take. They are too
// few to feel a crowded memory; against that all key groups are measured in several passes
// (measure.h).
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
  // `timer` must outlive this.
  explicit Pace(GroupTimer& timer) : timer_(timer) {}

  // A key group that takes so long: the first ones are those that are timed again.
  void Offer(const GroupRecords& group, double seconds);
  // Times them, if that is due, before the group of index `next_group` is measured in `pass`.
  absl::Status Note(std::size_t pass, std::uint32_t next_group);
  // `seconds` by pass and group. Divides all by how much slower than at its best the machine was
  // when they were taken. Returns the largest such factor.
  double Correct(std::vector<std::vector<float>>& seconds) const;

 private:
  GroupTimer& timer_;
  std::vector<GroupRecords> known_;
  double known_seconds_ = 0;  // about what they take together
  double next_at_ = 0;        // by the thread's clock
  // Readings: which pass and group was the next, and how long the known ones took.
  std::vector<std::pair<std::size_t, std::uint32_t>> next_groups_;
  std::vector<double> seconds_;
};

}  // namespace tidemark::bench
