// A stream compressed as it goes: what was added can be read before more is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::web {

// Takes about 40 KiB. Not thread-safe.
class GzipStream {
 public:
  // Returns null if memory is exhausted.
  static std::unique_ptr<GzipStream> Start();
  virtual ~GzipStream() = default;
  // Returns bytes to be sent after the previous ones. With `flush`, they complete all text so far;
  // otherwise some may follow later.
  virtual std::string Add(std::string_view text, bool flush = true) = 0;
  // Nothing may be added afterwards.
  virtual std::string End() = 0;
};

// Returns the text of a whole gzip file, or nullopt if the file is damaged or memory is short. The
// file must be trusted: the text is held in memory.
std::optional<std::string> Gunzip(std::string_view bytes);

}  // namespace tidemark::web
