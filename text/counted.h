// Counts and choices for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::text {

// "1 slot", "4 slots": `noun` is one that takes an s.
std::string Counted(std::uint64_t count, std::string_view noun);

// "a", "a or b", "a, b or c".
std::string AnyOf(const std::vector<std::string>& names);

}  // namespace tidemark::text
