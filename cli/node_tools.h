// Measurements of a node by fio and iperf3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::cli {

// Speeds of sequential transfers, in bytes per second.
struct DiskSpeeds {
  double read = 0;
  double write = 0;
};

// Parses fio's JSON of one job that reads, writes, or both. Returns InvalidArgument for other text.
absl::StatusOr<DiskSpeeds> ParseFio(const std::string& json);
// Parses iperf3's JSON of a client. Returns received bytes per second. Returns InvalidArgument for
// other text or an error of iperf3.
absl::StatusOr<double> ParseIperf(const std::string& json);

enum class DiskAccess : std::uint8_t { kRead, kWrite };

// Returns a command that transfers `bytes` of `file` without the page cache and writes its result
// to `result`.
std::vector<std::string> FioCommand(DiskAccess access, const std::string& file, std::uint64_t bytes,
                                    const std::string& result);
// Return the command of a server for one test at `host`, and of a client that tests for `seconds`.
std::vector<std::string> IperfServerCommand(const std::string& host, int port);
std::vector<std::string> IperfClientCommand(const std::string& host, int port, int seconds,
                                            const std::string& result);

}  // namespace tidemark::cli
