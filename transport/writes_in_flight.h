// Responses in flight to readers, and the memory that they use together.
//
// A slow reader holds its response for as long as its stream lasts. Readers of the same bytes share
// them. If the bytes exceed a limit, the job with the most bytes releases its oldest response,
// which ends the streams that hold it. Their readers can resume after their last response.
//
// Thread-safe. Operations take O(1) time, but O(writes) while the limit is exceeded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace tidemark::transport {

class WritesInFlight {
 public:
  class Writer {
   public:
    virtual ~Writer() = default;
    // Ends the stream if its write is still pending. Called without a lock of this class.
    virtual void CutWrite() = 0;
  };
  // Equal `data` means the same memory.
  struct Bytes {
    const void* data = nullptr;
    std::size_t size = 0;
  };

  explicit WritesInFlight(std::size_t bytes_max = std::size_t{64} << 20) : bytes_max_(bytes_max) {}

  // Counts a response about the job before it is written, and stops counting the writer's earlier
  // response. May cut other writers. REQUIRES: the caller holds no lock that CutWrite() takes.
  void Begin(const std::shared_ptr<Writer>& writer, const std::string& job_id, const Bytes& bytes);
  // Stops counting the writer's response, if there is one.
  void End(const Writer* writer);
  // Returns false after the writer's response has been cut or has ended. A writer checks this
  // between Begin() and its write, under the lock that CutWrite() takes, because responses that
  // were cut are not counted.
  bool IsCounted(const Writer* writer) const;

  std::size_t bytes() const;

 private:
  struct Write {
    std::weak_ptr<Writer> writer;
    std::string job_id;
    const void* data;
    std::uint64_t number;  // order of Begin()
  };
  struct Held {
    std::size_t size = 0;
    std::size_t writes = 0;
  };
  // The functions below require mutex_.
  void EndLocked(const Writer* writer);
  void Release(const void* data);
  // Returns the memory of the oldest write of the job with the most bytes, or null if only `newest`
  // remains.
  const void* ToCut(const void* newest) const;

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  // Guards all members below.
  absl::flat_hash_map<const Writer*, Write> writes_;
  absl::flat_hash_map<const void*, Held> held_;
  std::size_t bytes_ = 0;
  std::uint64_t begun_ = 0;
};

}  // namespace tidemark::transport
