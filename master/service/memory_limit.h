// How much memory the process of a master may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tidemark::service {

// The contents of the file of that path; empty: it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

// The smallest memory limit of the cgroups that the process is in, its own and those around it, of
// version 1 or 2 below /sys/fs/cgroup; empty: none is known. Pure but for what `read` does.
// Source: cgroups(7), /proc/[pid]/cgroup.
std::optional<std::uint64_t> CgroupMemoryLimitBytes(const ReadFile& read);

// Half of the memory of the host, or of that limit if it is smaller; the largest number if neither
// is known. Reads files. Thread-safe.
std::size_t HalfOfTheMemoryBytes();

}  // namespace tidemark::service
