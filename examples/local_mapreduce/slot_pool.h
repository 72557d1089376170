// The slots that the jobs of a workflow share.
//
// A job sets its number of waiting tasks and requests a slot whenever it could start one. The
// policy decides which job gets the next slot. Slots are never revoked.
//
// Thread-safe: each job uses its own thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tidemark::examples {

enum class SlotPolicy : std::uint8_t {
  kFifo,  // the job with the lowest number first
  kFair,  // the job with the fewest slots first
};

class SlotPool {
 public:
  SlotPool(std::size_t jobs, std::uint32_t slots, SlotPolicy policy);

  // Sets the number of tasks that job `job` could start.
  void SetWaiting(std::size_t job, std::size_t tasks);
  // Returns true if the job got a slot.
  bool TryTake(std::size_t job);
  void Give(std::size_t job);

 private:
  // Returns true if `other` has precedence over `job`. Requires mutex_.
  bool IsBefore(std::size_t other, std::size_t job) const;

  const SlotPolicy policy_;
  std::mutex mutex_;  // guards the members below
  std::uint32_t free_;
  std::vector<std::size_t> waiting_;  // waiting tasks by job
  std::vector<std::size_t> taken_;    // taken slots by job
};

// One job's view of a pool. After its destruction, the job has no waiting tasks.
class SlotShare {
 public:
  // `pool` must outlive the share.
  SlotShare(SlotPool& pool, std::size_t job) : pool_(pool), job_(job) {}
  ~SlotShare() { pool_.SetWaiting(job_, 0); }
  SlotShare(const SlotShare&) = delete;
  SlotShare& operator=(const SlotShare&) = delete;

  void SetWaiting(std::size_t tasks) { pool_.SetWaiting(job_, tasks); }
  bool TryTake() { return pool_.TryTake(job_); }
  void Give() { pool_.Give(job_); }

 private:
  SlotPool& pool_;
  const std::size_t job_;
};

}  // namespace tidemark::examples
