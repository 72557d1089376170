#include "cli/node_tools.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace tidemark::cli {
namespace {

using nlohmann::json;

// Returns the speed at a path, or 0 if it is missing.
double SpeedAt(const json& root, const json::json_pointer& path) {
  if (!root.contains(path) || !root.at(path).is_number()) return 0;
  const double speed = root.at(path).get<double>();
  return std::isfinite(speed) && speed > 0 ? speed : 0;
}

absl::Status NotA(const char* what) {
  return absl::InvalidArgumentError(fmt::format("cannot read the result of {}", what));
}

// Parses JSON after notes that fio may write before it.
json Parse(const std::string& text) {
  const std::size_t begin = text.find('{');
  return begin == text.npos ? json() : json::parse(text.substr(begin), nullptr, false);
}

}  // namespace

absl::StatusOr<DiskSpeeds> ParseFio(const std::string& text) {
  const json root = Parse(text);
  const DiskSpeeds speeds = {.read = SpeedAt(root, json::json_pointer("/jobs/0/read/bw_bytes")),
                             .write = SpeedAt(root, json::json_pointer("/jobs/0/write/bw_bytes"))};
  if (speeds.read + speeds.write <= 0) return NotA("fio");
  return speeds;
}

absl::StatusOr<double> ParseIperf(const std::string& text) {
  const json root = Parse(text);
  if (root.is_object() && root.contains("error") && root["error"].is_string()) {
    return absl::InvalidArgumentError("iperf3: " + root["error"].get<std::string>());
  }
  const double bits = SpeedAt(root, json::json_pointer("/end/sum_received/bits_per_second"));
  if (bits <= 0) return NotA("iperf3");
  return bits / 8;
}

std::vector<std::string> FioCommand(DiskAccess access, const std::string& file, std::uint64_t bytes,
                                    const std::string& result) {
  std::vector<std::string> command = {"fio",
                                      "--name=tidemark",
                                      "--filename=" + file,
                                      fmt::format("--size={}", bytes),
                                      "--bs=1M",
                                      "--direct=1",
                                      "--ioengine=psync",
                                      "--output-format=json",
                                      "--output=" + result};
  if (access == DiskAccess::kRead) {
    command.push_back("--rw=read");
  } else {
    command.insert(command.end(), {"--rw=write", "--end_fsync=1"});
  }
  return command;
}

std::vector<std::string> IperfServerCommand(const std::string& host, int port) {
  return {"iperf3", "-s", "-1", "-B", host, "-p", fmt::to_string(port), "--logfile", "/dev/null"};
}

std::vector<std::string> IperfClientCommand(const std::string& host, int port, int seconds,
                                            const std::string& result) {
  return {"iperf3", "-c",        host,  "-p", fmt::to_string(port), "-t", fmt::to_string(seconds),
          "--json", "--logfile", result};
}

}  // namespace tidemark::cli
