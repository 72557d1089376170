// What a compressed event log holds, in pieces of bounded size.
//
//   Unpacker unpacker;
//   while (!bytes.empty()) {
//     const auto taken = unpacker.Unpack(bytes, &out);   // appends to out
//     ...
//     bytes.remove_prefix(*taken);
//   }
//
// The first bytes decide: zstd and LZ4 frames and gzip members, one after the other, the blocks
// that Spark's codecs "lz4", "snappy" and "lzf" write, and plain text. Not thread-safe.
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

  // Takes some bytes from the front of `packed`, which is not empty, appends what they hold, at
  // most 32 MiB and usually less than 128 KiB, and returns how many it took: at least one.
  // Unimplemented: a compression that it does not know; DataLoss: it is damaged from here on.
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out);

  // Whether more has to come: it stopped in the middle of a frame or block.
  bool is_cut() const;

  // One of the compressions, behind the choice.
  class Format {
   public:
    virtual ~Format() = default;
    virtual absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) = 0;
    virtual bool is_cut() const = 0;
  };

 private:
  std::string head_;  // until the format is known
  std::unique_ptr<Format> format_;
};

}  // namespace tidemark::spark
