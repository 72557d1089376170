#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/process.h"
#include "cli/progress.h"
#include "master/store/history.h"

namespace tidemark::cli {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr int kNetworkSeconds = 2;
// The server rejects connections while it starts.
constexpr int kNetworkTries = 20;
constexpr absl::Duration kBetweenTries = absl::Milliseconds(200);

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

// Runs a tool until it ends. The message of an error contains the last line of its standard error.
absl::Status RunTool(const std::vector<std::string>& command, const std::atomic<bool>& stop) {
  std::string last_line;
  const auto code = RunChild(
      command, {}, [&](const std::string& line) { last_line = line; }, stop);
  if (absl::IsNotFound(code.status())) {
    return absl::NotFoundError(fmt::format(
        "cannot start {}; install it (Debian: apt-get install fio iperf3)", command.front()));
  }
  if (!code.ok()) return code.status();
  if (stop) return absl::CancelledError("stopped");
  if (*code == 0) return absl::OkStatus();
  return absl::InternalError(fmt::format("{} failed with exit code {}{}{}", command.front(), *code,
                                         last_line.empty() ? "" : ": ", last_line));
}

absl::Status MeasureDisk(const ProfileNodeArguments& arguments, const std::string& scratch,
                         ResourceProfile& node) {
  const std::string file = arguments.directory + "/tidemark-profile.tmp";
  const std::string result = scratch + "/fio.json";
  absl::Status status;
  // The write creates the file that the read needs.
  for (const DiskAccess access : {DiskAccess::kWrite, DiskAccess::kRead}) {
    status = RunTool(FioCommand(access, file, arguments.bytes, result), StopOnInterrupt());
    if (!status.ok()) break;
    const absl::StatusOr<DiskSpeeds> speeds = ParseFio(ReadAll(result));
    status = speeds.status();
    if (!status.ok()) break;
    (access == DiskAccess::kRead ? node.disk_read : node.disk_write) =
        access == DiskAccess::kRead ? speeds->read : speeds->write;
  }
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  // On one machine, the distributed file system is the disk.
  node.dfs_read = node.disk_read;
  node.dfs_write = node.disk_write;
  return status;
}

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool is_bound = fd >= 0 &&
                        ::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                        ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (fd >= 0) ::close(fd);
  return is_bound ? ntohs(address.sin_port) : 0;
}

absl::StatusOr<double> MeasureSpeedTo(const std::string& host, int port, int tries,
                                      const std::string& scratch) {
  const std::string result = scratch + "/iperf.json";
  absl::Status status;
  for (int i = 0; i < tries; ++i) {
    // iperf3 appends to an existing file.
    std::error_code ignored;
    std::filesystem::remove(result, ignored);
    status = RunTool(IperfClientCommand(host, port, kNetworkSeconds, result), StopOnInterrupt());
    if (absl::IsNotFound(status) || absl::IsCancelled(status)) return status;
    const absl::StatusOr<double> speed = ParseIperf(ReadAll(result));
    if (speed.ok()) return speed;
    status = speed.status();
    absl::SleepFor(kBetweenTries);
  }
  return status;
}

absl::Status MeasureNetwork(const ProfileNodeArguments& arguments, const std::string& scratch,
                            ResourceProfile& node) {
  absl::StatusOr<double> speed = 0.0;
  if (!arguments.peer.empty()) {
    speed = MeasureSpeedTo(arguments.peer, arguments.peer_port, 1, scratch);
  } else {
    const int port = FreePort();
    std::atomic<bool> stop = false;
    absl::Status served;
    std::thread server([&] { served = RunTool(IperfServerCommand(kLoopback, port), stop); });
    speed = MeasureSpeedTo(kLoopback, port, kNetworkTries, scratch);
    stop = true;
    server.join();
    if (absl::IsNotFound(served)) return served;
  }
  if (speed.ok()) node.network = *speed;
  return speed.status();
}

absl::StatusOr<ResourceProfile> Measure(const ProfileNodeArguments& arguments) {
  absl::StatusOr<TemporaryDirectory> scratch = TemporaryDirectory::Create();
  if (!scratch.ok()) return scratch.status();
  ResourceProfile node = {.cores = std::max(1.0, 1.0 * std::thread::hardware_concurrency())};
  absl::Status status = MeasureDisk(arguments, scratch->path(), node);
  if (status.ok()) status = MeasureNetwork(arguments, scratch->path(), node);
  if (!status.ok()) return status;
  return node;
}

absl::Status StoreNode(const std::string& data_dir, const ResourceProfile& node) {
  if (absl::Status made = CreateDirectory("--data-dir", data_dir); !made.ok()) return made;
  const auto history = store::History::Open(data_dir + "/history.sqlite", {});
  if (!history.ok()) return history.status();
  char host[256] = {};
  const bool has_name = ::gethostname(host, sizeof(host) - 1) == 0;
  return (*history)->AddNode(has_name ? host : "localhost", absl::Now(), node);
}

// Returns the section `node` of a plan.
std::vector<std::string> NodeLines(const ResourceProfile& node) {
  return {"node:",
          fmt::format("  cores: {:g}", node.cores),
          fmt::format("  disk_read_bytes_per_second: {:.4g}", node.disk_read),
          fmt::format("  disk_write_bytes_per_second: {:.4g}", node.disk_write),
          fmt::format("  file_system_read_bytes_per_second: {:.4g}", node.dfs_read),
          fmt::format("  file_system_write_bytes_per_second: {:.4g}", node.dfs_write),
          fmt::format("  network_bytes_per_second: {:.4g}", node.network)};
}

}  // namespace

int Run(const ProfileNodeArguments& arguments) {
  const absl::StatusOr<ResourceProfile> node = Measure(arguments);
  absl::Status status = node.status();
  if (status.ok() && !arguments.data_dir.empty()) status = StoreNode(arguments.data_dir, *node);
  if (!status.ok()) {
    if (absl::IsCancelled(status)) return kInterrupted;
    PrintError(status);
    return absl::IsNotFound(status) || absl::IsInvalidArgument(status) ? kUsage : kJobFailed;
  }
  for (const std::string& line : NodeLines(*node)) {
    if (!WriteLine(stdout, line)) return kReaderGone;
  }
  return kSuccess;
}

void AddProfile(CLI::App& root, Invocation& invocation) {
  CLI::App& profile = *root.add_subcommand("profile", "Measure how fast a node is");
  profile.require_subcommand(1);
  CLI::App& app = *profile.add_subcommand(
      "node", "Measure disk (fio), network (iperf3) and cores; print them as the `node` of a plan");
  auto& arguments = ArgumentsOf<ProfileNodeArguments>(app, invocation, Run);
  Directory(app.add_option("--directory", arguments.directory, "Directory on the disk to measure")
                ->capture_default_str());
  Size(app.add_option("--size", arguments.bytes, "Amount of data to write and read [256MiB]"));
  app.add_option("--peer", arguments.peer, "Host that runs `iperf3 -s` [loopback]");
  Between(1, 65535,
          app.add_option("--peer-port", arguments.peer_port, "Port of iperf3 on that host")
              ->capture_default_str());
  app.add_option(
         "--data-dir", arguments.data_dir,
         "Store the result in this data directory, where the master reads it to estimate plans")
      ->type_name("DIR");
  AddFooter(app,
            "Exit code: 0 success, 1 a tool failed, 2 usage error, or fio or iperf3 is missing.");
}

}  // namespace tidemark::cli
