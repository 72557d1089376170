// Values of Spark's settings as Spark itself reads them: "48m", "10s", "true".
//
// Case and surrounding blanks do not matter. InvalidArgument says what was read and what is wanted;
// the caller names the setting. Pure, thread-safe.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tidemark::phases {

inline constexpr std::uint64_t kKib = 1024;
inline constexpr std::uint64_t kMib = 1024 * kKib;

// A whole number with a unit of b, k, m, g, t, p (also kb, mb and so on), powers of 1024; without
// one, of `unit` bytes. Spark refuses fractions and negative numbers, and so does this.
absl::StatusOr<std::uint64_t> ParseBytes(absl::string_view text, std::uint64_t unit);
// A whole number with a unit of us, ms, s, m, min, h, d; without one, of `unit`.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text, absl::Duration unit);
absl::StatusOr<bool> ParseBool(absl::string_view text);
// Of 1 to `most`.
absl::StatusOr<std::uint32_t> ParseCount(absl::string_view text, std::uint32_t most);
// Of 0 to 1.
absl::StatusOr<double> ParseShare(absl::string_view text);

}  // namespace tidemark::phases
