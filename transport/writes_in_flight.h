// Responses that are on their way to readers, and how much memory they take together.
//
// A reader that does not read holds its response for as long as its stream lasts. Readers of the
// same bytes share them. Beyond a number of bytes the job whose responses take most releases its
// oldest: the streams that hold it end. Their readers can resume from their last response.
//
// Thread-safe. O(1), but O(writes) beyond the limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tidemark::transport {

class WritesInFlight {
 public:
  class Writer {
   public:
    virtual ~Writer() = default;
    // Ends the stream, if its write has not ended meanwhile. Called without a lock of this class.
    virtual void CutWrite() = 0;
  };
  // Equal `data` is the same memory.
  struct Bytes {
    const void* data = nullptr;
    std::size_t size = 0;
  };

  explicit WritesInFlight(std::size_t bytes_max = std::size_t{64} << 20) : bytes_max_(bytes_max) {}

  // A response about the job is written from now on, in place of one that the writer had before.
  // May cut writers, but not this one. REQUIRES: the caller holds no lock that CutWrite() takes.
  void Begin(const std::shared_ptr<Writer>& writer, const std::string& job_id, const Bytes& bytes);
  // Does nothing if none is in flight.
  void End(const Writer* writer);

  std::size_t bytes() const;

 private:
  struct Write {
    std::weak_ptr<Writer> writer;
    std::string job_id;
    const void* data;
    std::uint64_t number;  // in the order in which they began
  };
  struct Held {
    std::size_t size = 0;
    std::size_t writes = 0;
  };
  // REQUIRES: mutex_ is held, here and below.
  void EndLocked(const Writer* writer);
  void Release(const void* data);
  // Returns the memory that the oldest write holds of the job whose writes hold most; null: only
  // `newest` is left.
  const void* ToCut(const void* newest) const;

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  // guards all below
  absl::flat_hash_map<const Writer*, Write> writes_;
  absl::flat_hash_map<const void*, Held> held_;
  std::size_t bytes_ = 0;
  std::uint64_t begun_ = 0;
};

}  // namespace tidemark::transport
