#include "text/counted.h"

#include <fmt/format.h>

namespace tidemark::text {

std::string Counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace tidemark::text
