#include "master/service/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "transport/small_file.h"

namespace tidemark::service {
namespace {

// Of one hierarchy of cgroups.
struct MemoryFiles {
  const char* root;  // where it is mounted
  const char* limit;
};
constexpr MemoryFiles kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"};
constexpr MemoryFiles kVersion2 = {"/sys/fs/cgroup", "memory.max"};

// "max" in version 2 is no limit. Nothing runs under 0.
std::optional<std::uint64_t> ParseLimit(const std::optional<std::string>& text) {
  std::uint64_t bytes = 0;
  if (!text || !absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &bytes) || bytes == 0) {
    return std::nullopt;
  }
  return bytes;
}

std::optional<std::uint64_t> Smaller(std::optional<std::uint64_t> a,
                                     std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// Of the cgroup with this path and of all around it. A path that leads out of what a container
// sees, or does not exist there, leaves the root, which is the container's own.
std::optional<std::uint64_t> LimitAlong(std::string cgroup, const MemoryFiles& files,
                                        const ReadFile& read) {
  if (!cgroup.starts_with('/') || cgroup.starts_with("/..")) cgroup.clear();
  std::optional<std::uint64_t> limit;
  for (;;) {
    while (cgroup.ends_with('/')) cgroup.pop_back();
    limit = Smaller(limit, ParseLimit(read(files.root + cgroup + "/" + files.limit)));
    if (cgroup.empty()) return limit;
    cgroup.resize(cgroup.rfind('/'));
  }
}

std::optional<std::uint64_t> HostMemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

}  // namespace

std::optional<std::uint64_t> CgroupMemoryLimitBytes(const ReadFile& read) {
  std::optional<std::uint64_t> limit;
  const std::vector<std::string> lines =
      absl::StrSplit(read("/proc/self/cgroup").value_or(""), '\n');
  for (const std::string& line : lines) {
    // NUMBER:CONTROLLERS:PATH; version 2 has number 0 and no controllers.
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',');
    const bool is_version2 = fields[0] == "0" && fields[1].empty();
    if (is_version2) limit = Smaller(limit, LimitAlong(fields[2], kVersion2, read));
    if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
      limit = Smaller(limit, LimitAlong(fields[2], kVersion1, read));
    }
  }
  return limit;
}

std::size_t HalfOfTheMemoryBytes() {
  const auto read = [](const std::string& path) -> std::optional<std::string> {
    absl::StatusOr<std::string> text = transport::ReadSmallFile(path);
    if (!text.ok()) return std::nullopt;
    return *std::move(text);
  };
  const auto memory = Smaller(HostMemoryBytes(), CgroupMemoryLimitBytes(read));
  if (!memory) return std::numeric_limits<std::size_t>::max();
  // A limit of one byte is one, not none.
  return static_cast<std::size_t>(std::max<std::uint64_t>(*memory / 2, 1));
}

}  // namespace tidemark::service
