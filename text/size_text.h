// Converts between sizes and text. In both directions, k, M, G, T, P and E are powers of 1,000, as
// in "10GB". Ki, Mi, Gi, Ti, Pi and Ei are powers of 1,024, as in "10GiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::text {

// Returns a string such as "999 B", "1.0 kB" or "12.4 MB". The size is rounded to a tenth of the
// largest unit up to PB in which the rounded size is at least 1.
std::string SizeText(std::uint64_t size_bytes);

// Returns "4MiB", "10GB" or "1001": the exact size in the unit that gives the smallest number.
// SizeIn() parses the result.
std::string ExactSizeText(std::uint64_t size_bytes);

// Parses a whole number of bytes or of a unit: "256", "10GB", "10 gb", "4g", "10GiB". Case does not
// matter, and neither does the final B. Returns nullopt for any other text and for 2^64 bytes or
// more.
std::optional<std::uint64_t> SizeIn(std::string_view word);

}  // namespace tidemark::text
