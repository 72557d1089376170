// Made-up visits of a website: input for the workflow web-log.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace tidemark::examples {

// Writes `count` lines "IP PAGE SECONDS CENTS" to `path`; the same count gives the same bytes.
// Pages are skewed as in Zipf's law: page k is visited in proportion to 1 / k.
absl::Status GenerateVisits(const std::string& path, std::uint64_t count);

}  // namespace tidemark::examples
