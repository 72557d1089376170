// The slots of one job, and the stages whose tasks wait for one. A wait counts only while no slot
// is free. While a slot is free, a task may wait for a slot near its data, and no query causes this
// wait.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "master/waits/piece.h"

namespace tidemark::waits {

// Instants are seconds, as in Piece, in roughly chronological order. The waits of stages for slots
// are returned as pieces of the queue. One piece holds the waits of all tasks of a stage.
//
// O(1), but O(waiting stages) for ReportWaits(), when the last slot is taken, and when a slot
// stays free. Not thread-safe.
class JobSlots {
 public:
  explicit JobSlots(Pool pool) : pool_(pool) {}

  void Add(std::uint32_t slots) { slots_ += slots; }
  void Remove(std::uint32_t slots) { slots_ -= slots; }
  // Declares that all slots are known from now on. Before this call no wait counts, since an
  // executor may have existed before the first event.
  void SetKnown() { is_known_ = !is_abandoned_; }
  bool is_known() const { return is_known_; }
  // Stops all accounting after some tasks of the job could not be tracked, since the holders of
  // its slots are then unknown.
  void Abandon();
  // Call this after slots were added or removed, or a task started or ended.
  void UpdateFullness(double at);

  // Adds `tasks` waiting tasks of the stage. REQUIRES: the stage is not waiting, tasks > 0.
  std::vector<Piece> Queue(Stage stage, std::uint32_t tasks, double at);
  void Withdraw(Stage stage) { waiting_.erase(stage); }
  bool IsWaiting(Stage stage) const { return waiting_.contains(stage); }
  // Returns the instant until which the waits of the stage have been returned as pieces. REQUIRES:
  // IsWaiting(stage).
  double WaitedUntil(Stage stage) const { return waiting_.at(stage).until; }

  // Records that a task takes a slot. If `from_queue`, it is one of the waiting tasks.
  std::vector<Piece> Start(Stage stage, double at, bool from_queue);
  std::vector<Piece> End(double at);

  // Returns the waits until `until` if all slots are still taken at `now`.
  std::vector<Piece> ReportWaits(double now, double until);

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  struct Waiting {
    std::uint32_t tasks = 0;
    double until = kNever;  // waits until then have been returned, or a slot was free
  };

  void Settle(double at, std::vector<Piece>& pieces);
  void ReportWait(Stage stage, double until, bool got_slot, std::vector<Piece>& pieces);

  Pool pool_{};
  double now_ = kNever;
  std::uint64_t slots_ = 0;
  bool is_known_ = false;
  bool is_abandoned_ = false;
  std::uint64_t running_ = 0;
  // True if no slot is free, or a slot became free that may be filled immediately.
  bool is_full_ = false;
  std::optional<double> free_since_;  // instant at which a slot became free while is_full_
  std::map<Stage, Waiting> waiting_;
};

}  // namespace tidemark::waits
