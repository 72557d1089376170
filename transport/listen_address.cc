#include "transport/listen_address.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "transport/host_port.h"

namespace tidemark::transport {

namespace {

bool IsIpv4(const std::string& host) {
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

}  // namespace

bool IsLocalAddress(const std::string& address) {
  if (UnixPathOf(address)) return true;
  const std::string host = address.substr(0, address.rfind(':'));
  // A name such as 127.evil.example must not count as an address.
  return host == "localhost" || host == "[::1]" || (host.starts_with("127.") && IsIpv4(host));
}

namespace {

// By default, Linux lets every user bind to this port and higher ones.
constexpr int kFirstUnprivilegedPort = 1024;
constexpr char kInUsePayload[] = "tidemark/address-in-use";

std::string CauseOf(const std::string& address, int error) {
  const auto at = ParseHostPort(address);
  switch (error) {
    case EACCES:
    case EPERM:
      if (at && at->port < kFirstUnprivilegedPort) {
        return fmt::format(
            "{}: this user may not listen on ports below {}; use a higher port, or grant the "
            "capability CAP_NET_BIND_SERVICE",
            std::strerror(error), kFirstUnprivilegedPort);
      }
      break;
    case EADDRINUSE:
      return fmt::format("{}; use another address, or end the process that listens there",
                         std::strerror(error));
    case EADDRNOTAVAIL:
      return "not an address of this host; use an address of this host, or 0.0.0.0 for all";
    case EAFNOSUPPORT:
      return fmt::format("{}; use an address of another family, such as 127.0.0.1 (IPv4)",
                         std::strerror(error));
    default:
      break;
  }
  return std::strerror(error);
}

}  // namespace

absl::StatusOr<std::vector<sockaddr_storage>> BindAddresses(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
  const std::string port = colon == std::string::npos ? address : address.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(
        fmt::format("cannot listen on {}: the host name {} cannot be resolved ({}); use an address "
                    "of this host",
                    address, host, gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> held(found, freeaddrinfo);
  std::vector<sockaddr_storage> addresses;
  for (const bool is_ip4 : {true, false}) {
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      if ((each->ai_family == AF_INET) != is_ip4) continue;
      std::memcpy(&addresses.emplace_back(), each->ai_addr, each->ai_addrlen);
    }
  }
  return addresses;
}

int OpenBound(const sockaddr* name, socklen_t size) {
  const int descriptor = socket(name->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  const int yes = 1;
  const int no = 0;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (name->sa_family == AF_INET6) {
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  if (bind(descriptor, name, size) == 0) return descriptor;
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

absl::StatusOr<int> ListenAtOne(const std::string& address) {
  const absl::StatusOr<std::vector<sockaddr_storage>> names = BindAddresses(address);
  if (!names.ok()) return names.status();
  int error = EADDRNOTAVAIL;
  for (const sockaddr_storage& name : *names) {
    const int descriptor = OpenBound(reinterpret_cast<const sockaddr*>(&name), sizeof name);
    if (descriptor >= 0 && listen(descriptor, SOMAXCONN) == 0) return descriptor;
    error = errno;
    if (descriptor >= 0) close(descriptor);
  }
  return CannotListen(address, error);
}

bool HandOver(int socket, const std::function<bool()>& start) {
  struct stat given {};
  fstat(socket, &given);
  if (start()) return true;
  const int error = errno;
  struct stat left {};
  const bool is_open = fstat(socket, &left) == 0;
  if (is_open && left.st_dev == given.st_dev && left.st_ino == given.st_ino) close(socket);
  errno = error;
  return false;
}

absl::Status CannotListen(const std::string& address, int error) {
  absl::Status status = absl::UnavailableError(
      fmt::format("cannot listen on {}: {}", address, CauseOf(address, error)));
  if (error == EADDRINUSE) status.SetPayload(kInUsePayload, absl::Cord());
  return status;
}

bool IsAddressInUse(const absl::Status& status) {
  return status.GetPayload(kInUsePayload).has_value();
}

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
    const char* const advice = error == ENOENT ? "create it, or use another path"
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
    return Refused(address, "the file there is not a socket; use another path");
  }
  // The socket of a dead process will be replaced.
  const Socket trial(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const bool is_left = connect(trial.get(), socket_name, sizeof name) != 0 && errno == ECONNREFUSED;
  return is_left ? absl::OkStatus() : CannotListen(address, EADDRINUSE);
}

}  // namespace

absl::Status CanListen(const std::string& address) {
  const std::optional<std::string> path = UnixPathOf(address);
  return path ? CanListenAtPath(address, *path) : CanListenAtHost(address);
}

namespace {

// Returns the beginning of the address, which is enough to identify it.
std::string Quoted(const std::string& address) {
  constexpr std::size_t kBytesMax = 60;
  return address.size() <= kBytesMax ? address : address.substr(0, kBytesMax) + "...";
}

}  // namespace

absl::Status CheckListenAddress(const std::string& address, bool allow_insecure_remote,
                                Protection protection) {
  if (const auto path = UnixPathOf(address)) {
    const std::string fault = UnixPathFault(*path);
    if (fault.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format("listen address {}: {}", Quoted(address), fault));
  }
  if (!ParseHostPort(address)) {
    const std::size_t colon = address.rfind(':');
    const bool has_port =
        colon != std::string::npos && address.find(']', colon) == std::string::npos;
    const std::string fault = has_port || address.empty()
                                  ? "must be host:port, such as 127.0.0.1:7411, or unix:PATH"
                                  : fmt::format("port missing; did you mean {}:7411?", address);
    return absl::InvalidArgumentError(fmt::format("listen address {}: {}", address, fault));
  }
  const bool is_protected = protection.encrypted && protection.authenticated;
  if (is_protected || allow_insecure_remote || IsLocalAddress(address)) {
    return absl::OkStatus();
  }
  const char* missing = protection.encrypted       ? "tokens or client certificates"
                        : protection.authenticated ? "TLS"
                                                   : "TLS and either tokens or client certificates";
  return absl::InvalidArgumentError(
      fmt::format("listen address {}: other hosts must not connect without {}; set that up, use "
                  "127.0.0.1 or pass --allow-insecure-remote",
                  address, missing));
}

}  // namespace tidemark::transport
