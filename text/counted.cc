#include "text/counted.h"

#include <fmt/format.h>

#include <cstddef>

namespace tidemark::text {

std::string Counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string AnyOf(const std::vector<std::string>& names) {
  std::string listed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) listed += i + 1 < names.size() ? ", " : " or ";
    listed += names[i];
  }
  return listed;
}

}  // namespace tidemark::text
