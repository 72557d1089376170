// Compression of responses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::web {

// Returns true if the header Accept-Encoding (RFC 9110, 12.5.3) names gzip with a weight above 0.
// For any other header, even one with *, the server sends uncompressed bytes. Pure.
bool AcceptsGzip(std::string_view accept_encoding);

// A stream whose readers can decompress each part as soon as it arrives. Takes about 40 KiB. Not
// thread-safe.
class GzipStream {
 public:
  // Returns null if memory is exhausted.
  static std::unique_ptr<GzipStream> Start();
  virtual ~GzipStream() = default;
  // Returns bytes to be sent after the previous ones. If `flush` is true, they complete all text so
  // far; otherwise some may follow later.
  virtual std::string Add(std::string_view text, bool flush = true) = 0;
  // Returns the last bytes. No text may be added afterwards.
  virtual std::string End() = 0;
};

// Returns the text of a whole gzip file, or nullopt if the file is damaged or memory is short. The
// file must be trusted, since the text is held in memory.
std::optional<std::string> Gunzip(std::string_view bytes);

}  // namespace tidemark::web
