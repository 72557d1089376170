#include "text/size_text.h"

#include <fmt/format.h>

namespace tidemark::text {

std::string SizeText(std::uint64_t size_bytes) {
  if (size_bytes < 1000) return fmt::format("{} B", size_bytes);
  double value = static_cast<double>(size_bytes);
  const char* unit = "B";
  for (const char* larger : {"kB", "MB", "GB", "TB", "PB"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = larger;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

}  // namespace tidemark::text
