// Snapshots that readers of deltas have, kept so that the next ones can be sent as deltas.
//
// Keeps the last few snapshots of each job: readers that keep pace have the same one, and a reader
// that has an older one gets a whole snapshot. All together take a bounded number of bytes, beyond
// which the oldest are dropped first. A reader that lags therefore costs a larger response, but no
// memory.
//
// Thread-safe. O(1) amortised, but O(size of the snapshot) for a new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "tidemark/job.h"

namespace tidemark::service {

// About how much memory a snapshot takes. O(stages + children + groups).
std::size_t BytesOf(const Snapshot& snapshot);

class SentSnapshots {
 public:
  // Snapshots of one job. Chosen by hand: readers on one network are within three updates of each
  // other.
  static constexpr std::size_t kOfJobMax = 3;

  explicit SentSnapshots(std::size_t bytes_max = std::size_t{64} << 20) : bytes_max_(bytes_max) {}

  // A reader of deltas is being sent this one.
  void Keep(const std::shared_ptr<const Snapshot>& snapshot);
  // Adds or removes one reader of deltas. The kept snapshots are dropped with the last reader.
  void AddReader();
  void RemoveReader();

  std::size_t bytes() const;

 private:
  struct Kept {
    std::shared_ptr<const Snapshot> snapshot;
    std::size_t bytes = 0;
  };
  using Order = std::list<Kept>;
  void Drop(Order::iterator kept);

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;                                              // guards all below
  Order order_;                                                           // the oldest first
  absl::flat_hash_map<std::string, std::list<Order::iterator>> of_jobs_;  // by id, likewise
  std::size_t bytes_ = 0;
  std::size_t readers_ = 0;
};

}  // namespace tidemark::service
