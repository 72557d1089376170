#include "transport/can_listen.h"

#include <fmt/format.h>
#include <netinet/in.h>
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
  explicit Socket(int family)
      : descriptor_(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

absl::Status CannotListen(const std::string& address, const std::string& reason) {
  return absl::UnavailableError(fmt::format("cannot listen on {}: {}", address, reason));
}

// 0, or errno.
int BindTo(const sockaddr_storage& address) {
  const Socket trial(address.ss_family);
  const int yes = 1;
  const int no = 0;
  // As where a master listens: what is left of closed connections is no hindrance.
  setsockopt(trial.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address.ss_family == AF_INET6) {
    setsockopt(trial.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  return bind(trial.get(), name, sizeof address) == 0 ? 0 : errno;
}

absl::Status CanListenAtHost(const std::string& address) {
  const absl::StatusOr<std::vector<sockaddr_storage>> names = BindAddresses(address);
  if (!names.ok()) return CannotListen(address, std::string(names.status().message()));
  int error = EADDRNOTAVAIL;
  for (const sockaddr_storage& name : *names) {
    error = BindTo(name);
    if (error == 0) return absl::OkStatus();
  }
  return CannotListen(address, std::strerror(error));
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
    return CannotListen(address, fault);
  }
  const std::string folder = FolderOf(path);
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    const int error = errno;
    const char* const advice = error == ENOENT ? "make it, or use another path"
                                               : "use a folder that this user may write to";
    return CannotListen(address,
                        fmt::format("folder {}: {}; {}", folder, std::strerror(error), advice));
  }
  struct stat facts {};
  if (lstat(path.c_str(), &facts) != 0) return absl::OkStatus();
  if (!S_ISSOCK(facts.st_mode)) {
    return CannotListen(address, "there is something else than a socket; use another path");
  }
  path.copy(name.sun_path, path.size());
  const Socket trial(AF_UNIX);
  // One that a process has left behind is replaced.
  const bool is_left =
      connect(trial.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 &&
      errno == ECONNREFUSED;
  return is_left ? absl::OkStatus() : CannotListen(address, std::strerror(EADDRINUSE));
}

}  // namespace

absl::Status CanListen(const std::string& address) {
  const std::optional<std::string> path = UnixPathOf(address);
  return path ? CanListenAtPath(address, *path) : CanListenAtHost(address);
}

}  // namespace tidemark::transport
