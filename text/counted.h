// Counts for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::text {

// "1 slot", "4 slots": `noun` is one that takes an s.
std::string Counted(std::uint64_t count, std::string_view noun);

}  // namespace tidemark::text
