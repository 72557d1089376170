// A stream compressed as it goes: what was added can be read before more is.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tidemark::web {

// Takes about 40 KiB. Not thread-safe.
class GzipStream {
 public:
  // Null: no memory.
  static std::unique_ptr<GzipStream> Start();
  virtual ~GzipStream() = default;
  // The bytes for all of `text`, to be sent behind those before.
  virtual std::string Add(std::string_view text) = 0;
  // Nothing may be added afterwards.
  virtual std::string End() = 0;
};

}  // namespace tidemark::web
