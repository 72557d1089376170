// Snapshots as bytes on the wire, serialized once for all readers that are sent the same one: a
// reader that does not read holds a reference, not a copy.
//
// Thread-safe.
#pragma once

#include <grpcpp/support/slice.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tidemark/job.h"
#include "tidemark/job_query.h"

namespace tidemark::service {

class EncodedSnapshots {
 public:
  // The v1::Snapshot of `snapshot` in `view`. As long as any slice of the two is alive, further
  // ones are of the same memory. O(size of the snapshot), else O(log snapshots).
  grpc::Slice Of(const std::shared_ptr<const Snapshot>& snapshot, View view);

 private:
  struct Encoded {
    std::once_flag once;
    std::string bytes;
  };
  // By the identity of the snapshot, which a weak pointer keeps from being given to another one.
  using Key = std::pair<std::weak_ptr<const Snapshot>, View>;
  struct Less {
    bool operator()(const Key& a, const Key& b) const {
      if (a.first.owner_before(b.first)) return true;
      return !b.first.owner_before(a.first) && a.second < b.second;
    }
  };
  std::shared_ptr<Encoded> Find(const Key& key);

  std::mutex mutex_;  // guards all below
  std::map<Key, std::weak_ptr<Encoded>, Less> encoded_;
  std::size_t sweep_at_ = 0;  // so many entries are looked through for those that nobody holds
};

}  // namespace tidemark::service
