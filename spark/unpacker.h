// Unpacks compressed event logs, in pieces of bounded size.
//
//   Unpacker unpacker;
//   while (!bytes.empty()) {
//     const auto taken = unpacker.Unpack(bytes, out);   // appends to out
//     ...
//     bytes.remove_prefix(*taken);
//   }
//
// The first bytes determine the format: sequences of zstd frames, LZ4 frames or gzip members, the
// blocks of Spark's codecs "lz4", "snappy" and "lzf", or plain text. Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tidemark::spark {

class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // Consumes bytes from the front of `packed`, which is not empty, and appends their contents: at
  // most 33 MiB, and usually less than 256 KiB. Returns the number of consumed bytes, at least one.
  // Returns Unimplemented for an unsupported compression, DataLoss if the rest is damaged; `out`
  // has the contents before the damage.
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out);

  // Returns true if the bytes so far end within a frame or block.
  bool is_cut() const;

  // One compression.
  class Format {
   public:
    virtual ~Format() = default;
    virtual absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) = 0;
    virtual bool is_cut() const = 0;
  };

 private:
  std::string head_;  // the first bytes, until the format is known
  std::unique_ptr<Format> format_;
};

}  // namespace tidemark::spark
