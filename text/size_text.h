// Sizes for people.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::text {

// In bytes below 1,000, else in the largest of kB (1,000 bytes), MB, GB, TB and PB of which there
// is one, with a decimal: "12.4 MB".
std::string SizeText(std::uint64_t size_bytes);

}  // namespace tidemark::text
