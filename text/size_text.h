// Sizes for people, and from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::text {

// In bytes below 1,000, else in the largest of kB (1,000 bytes), MB, GB, TB and PB of which there
// is one, with a decimal: "12.4 MB".
std::string SizeText(std::uint64_t size_bytes);

// "256", "10GiB", "10 gb", "4g": a whole number of bytes, or of K, M, G, T, P or E, each 1,024 of
// the one before, however it is spelt. Empty: anything else, and 2^64 bytes or more.
std::optional<std::uint64_t> SizeIn(std::string_view word);

}  // namespace tidemark::text
