// Text for counts and lists of choices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::text {

// Returns "1 slot" or "4 slots". `noun` forms its plural with an s.
std::string Counted(std::uint64_t count, std::string_view noun);

// Returns "a", "a or b" or "a, b or c".
std::string AnyOf(const std::vector<std::string>& names);

}  // namespace tidemark::text
