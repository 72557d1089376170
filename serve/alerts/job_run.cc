#include "serve/alerts/job_run.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdint>

#include "text/name_pattern.h"

namespace tidemark::serve {

// The length of the id separates the parts unambiguously.
std::string RunOf(const Snapshot& job) {
  const std::string run =
      job.run_uid.empty()
          ? fmt::format("{}", absl::ToUnixMicros(job.started_at.value_or(absl::UnixEpoch())))
          : job.run_uid;
  return fmt::format("{} {} {}", job.job_id.size(), job.job_id, run);
}

std::string UtcText(absl::Time at) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", at, absl::UTCTimeZone());
}

std::string ShortHash(const std::string& text) {
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

std::string UuidOf(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  constexpr std::uint64_t kVersion = 0x8000;
  constexpr std::uint64_t kVariant = 0x8000;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", hash.high64 >> 32,
                     hash.high64 >> 16 & 0xFFFF, kVersion | (hash.high64 & 0x0FFF),
                     kVariant | (hash.low64 >> 48 & 0x3FFF), hash.low64 & 0xFFFF'FFFF'FFFF);
}

bool IsNamedBy(const std::vector<std::string>& patterns, const Snapshot& job) {
  const std::string& name = job.info && !job.info->name.empty() ? job.info->name : job.job_id;
  return std::ranges::any_of(patterns,
                             [&](const std::string& pattern) { return text::Fits(pattern, name); });
}

}  // namespace tidemark::serve
