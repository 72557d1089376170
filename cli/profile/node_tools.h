// Measurements of a node by fio and iperf3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::cli {

// Speeds of sequential transfers. Bytes per second.
struct DiskSpeeds {
  double read = 0;
  double write = 0;
};

// fio's JSON of one job that reads or writes, or both. InvalidArgument: it is none, or says an
// error.
absl::StatusOr<DiskSpeeds> ParseFio(const std::string& json);
// iperf3's JSON of a client. Bytes per second that arrived. InvalidArgument as above.
absl::StatusOr<double> ParseIperf(const std::string& json);

enum class DiskAccess : std::uint8_t { kRead, kWrite };

// A command that transfers `bytes` of `file`, past the cache of the system, and writes its result
// to `result`.
std::vector<std::string> FioCommand(DiskAccess access, const std::string& file, std::uint64_t bytes,
                                    const std::string& result);
// A server for one test, and a client that tests for `seconds`. `host`: where the server listens.
std::vector<std::string> IperfServerCommand(const std::string& host, int port);
std::vector<std::string> IperfClientCommand(const std::string& host, int port, int seconds,
                                            const std::string& result);

}  // namespace tidemark::cli
