#include "transport/can_listen.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/bind_addresses.h"
#include "transport/host_port.h"

namespace tidemark::transport {
namespace {

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

absl::Status Refused(const std::string& address, const std::string& reason) {
  return absl::UnavailableError(fmt::format("cannot listen on {}: {}", address, reason));
}

absl::Status CanListenAtHost(const std::string& address) {
  const absl::StatusOr<std::vector<sockaddr_storage>> names = BindAddresses(address);
  if (!names.ok()) return names.status();
  int error = EADDRNOTAVAIL;
  for (const sockaddr_storage& name : *names) {
    const Socket trial(OpenBound(reinterpret_cast<const sockaddr*>(&name), sizeof name));
    if (trial.is_open()) return absl::OkStatus();
    error = errno;
  }
  return CannotListen(address, error);
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::Status CanListenAtPath(const std::string& address, const std::string& path) {
  sockaddr_un name = {.sun_family = AF_UNIX};
  static_assert(sizeof name.sun_path == kUnixPathBytesMax + 1);
  if (const std::string fault = UnixPathFault(path); !fault.empty()) {
    return Refused(address, fault);
  }
  const std::string folder = FolderOf(path);
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    const int error = errno;
    const char* const advice = error == ENOENT ? "make it, or use another path"
                                               : "use a folder that this user may write to";
    return Refused(address, fmt::format("folder {}: {}; {}", folder, std::strerror(error), advice));
  }
  path.copy(name.sun_path, path.size());
  const auto* const socket_name = reinterpret_cast<const sockaddr*>(&name);
  struct stat facts {};
  if (lstat(path.c_str(), &facts) != 0) {
    const Socket trial(OpenBound(socket_name, sizeof name));
    if (!trial.is_open()) {
      return Refused(address, fmt::format("{}; use another path", std::strerror(errno)));
    }
    unlink(path.c_str());
    return absl::OkStatus();
  }
  if (!S_ISSOCK(facts.st_mode)) {
    return Refused(address, "there is something else than a socket; use another path");
  }
  // One that a process has left behind is replaced.
  const Socket trial(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const bool is_left = connect(trial.get(), socket_name, sizeof name) != 0 && errno == ECONNREFUSED;
  return is_left ? absl::OkStatus() : CannotListen(address, EADDRINUSE);
}

}  // namespace

absl::Status CanListen(const std::string& address) {
  const std::optional<std::string> path = UnixPathOf(address);
  return path ? CanListenAtPath(address, *path) : CanListenAtHost(address);
}

}  // namespace tidemark::transport
