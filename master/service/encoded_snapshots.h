// Snapshots, and deltas between two of them, in their encoded form. Each is encoded once for all
// readers that receive it. A slow reader holds a reference and not a copy. The most recent bytes
// are kept for future readers.
//
// Thread-safe.
#pragma once

#include <grpcpp/support/slice.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"

namespace tidemark::service {

class EncodedSnapshots {
 public:
  using Shared = std::shared_ptr<const Snapshot>;

  // Keeps about `bytes_max` bytes that no reader holds, and always keeps the last entry.
  explicit EncodedSnapshots(std::size_t bytes_max = std::size_t{32} << 20)
      : bytes_max_(bytes_max) {}

  // Returns `snapshot` in `view`, encoded as a v1::Snapshot. While any slice of the same snapshot
  // and view is alive, further slices share its memory. The first slice takes O(size of the
  // snapshot) time, and others O(log snapshots).
  grpc::Slice Of(const Shared& snapshot, View view);
  // Returns the delta from `base` to `newer`, both in `view`. Its slices share memory like the
  // slices of Of(). Returns nullopt if there is no delta and the whole snapshot must be sent.
  // REQUIRES: the requirements of wire::DeltaInView().
  std::optional<grpc::Slice> DeltaOf(const Shared& base, const Shared& newer, View view);

  // Returns the number of encoded snapshots and deltas.
  std::uint64_t made() const { return made_.load(std::memory_order_relaxed); }

 private:
  struct Encoded {
    std::once_flag once;
    std::string bytes;
    bool is_none = false;
  };
  // Keys compare the identities of snapshots. The weak pointers keep addresses from being reused.
  struct Key {
    std::weak_ptr<const Snapshot> base;  // null for a whole snapshot
    std::weak_ptr<const Snapshot> snapshot;
    View view;
  };
  struct Less {
    bool operator()(const Key& a, const Key& b) const;
  };
  std::shared_ptr<Encoded> Find(const Key& key);
  // Unless the bytes of the key exist, calls `encode` to produce them. `encode` may return false.
  std::shared_ptr<Encoded> Make(const Key& key,
                                const std::function<bool(std::string& bytes)>& encode);

  void Retain(const std::shared_ptr<const Encoded>& encoded);

  const std::size_t bytes_max_;
  std::atomic<std::uint64_t> made_ = 0;
  std::mutex mutex_;                                 // Guards all members below.
  std::deque<std::shared_ptr<const Encoded>> kept_;  // oldest first
  std::size_t kept_bytes_ = 0;
  std::map<Key, std::weak_ptr<Encoded>, Less> encoded_;
  std::size_t sweep_at_ = 0;  // number of entries at which unused entries are removed
};

// Keeps the snapshots that readers of deltas have, so that the next snapshots can be sent as
// deltas.
//
// Keeps the last few snapshots of each job. Readers that keep pace share one of them; a slower
// reader gets a whole snapshot. If the kept snapshots exceed a number of bytes, the oldest are
// dropped. A slow reader therefore costs a larger response, but no memory.
//
// Thread-safe. Amortised O(1), but O(size of the snapshot) for a new snapshot.

// Returns the approximate memory of a snapshot. O(stages + children + groups).
std::size_t BytesOf(const Snapshot& snapshot);

class SentSnapshots {
 public:
  // Number of kept snapshots per job. Chosen by hand; readers on one network are within three
  // updates of each other.
  static constexpr std::size_t kOfJobMax = 3;

  explicit SentSnapshots(std::size_t bytes_max = std::size_t{64} << 20) : bytes_max_(bytes_max) {}

  // Keeps a snapshot that is about to be sent to a reader of deltas.
  void Add(const std::shared_ptr<const Snapshot>& snapshot);
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
  mutable std::mutex mutex_;  // Guards all members below.
  Order order_;               // oldest first
  // By job ID, oldest first.
  absl::flat_hash_map<std::string, std::list<Order::iterator>> of_jobs_;
  std::size_t bytes_ = 0;
  std::size_t readers_ = 0;
};

}  // namespace tidemark::service
