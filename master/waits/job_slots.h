// The slots of one job, and the stages whose tasks wait for one. A wait counts while none is free:
// beside a free slot a task may wait for one near its data, which is nobody's fault.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "master/waits/piece.h"

namespace tidemark::blame {

// Instants are seconds, as of Piece, in about the order in which things happened. What stages have
// waited for slots comes back as pieces of the queue; the waits of all of a stage's tasks are one.
//
// Cost: O(1), or O(stages that wait) when the last slot is taken, one stays free, or of
// TellWaits(). Not thread-safe.
class JobSlots {
 public:
  explicit JobSlots(Pool pool) : pool_(pool) {}

  void Add(std::uint32_t slots) { slots_ += slots; }
  void Remove(std::uint32_t slots) { slots_ -= slots; }
  // Until then no slot counts: an executor may have been there before anything was told.
  void SetTold() { is_told_ = !is_given_up_; }
  bool is_told() const { return is_told_; }
  // Not all of the job's tasks are followed any more: who holds its slots is not known.
  void GiveUp();
  // After slots were added or removed, or a task came or went.
  void SeeWhetherFull(double at);

  // So many tasks of the stage wait from now on. REQUIRES: it does not wait yet, tasks > 0.
  std::vector<Piece> Queue(Stage stage, std::uint32_t tasks, double at);
  void Withdraw(Stage stage) { waiting_.erase(stage); }
  bool IsWaiting(Stage stage) const { return waiting_.contains(stage); }
  // Until when it is told what the stage waited. REQUIRES: it is waiting.
  double WaitedUntil(Stage stage) const { return waiting_.at(stage).until; }

  // A task has a slot. `from_queue`: it is one of those that waited.
  std::vector<Piece> Start(Stage stage, double at, bool from_queue);
  std::vector<Piece> End(double at);

  // What has been waited: until `until`, if all slots are taken still. It is `now`.
  std::vector<Piece> TellWaits(double now, double until);

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  struct Waiting {
    std::uint32_t tasks = 0;
    double until = kNever;  // what is told already, while no slot is free
  };

  void Settle(double at, std::vector<Piece>& pieces);
  void TellWait(Stage stage, double until, bool got_slot, std::vector<Piece>& pieces);

  Pool pool_{};
  double now_ = kNever;
  std::uint64_t slots_ = 0;
  bool is_told_ = false;
  bool is_given_up_ = false;
  std::uint64_t running_ = 0;
  bool is_full_ = false;              // counting a slot that will be filled again at once as taken
  std::optional<double> free_since_;  // while is_full_: since when one is free
  std::map<Stage, Waiting> waiting_;
};

}  // namespace tidemark::blame
