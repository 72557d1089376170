#include "transport/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>

#include "absl/strings/cord.h"

namespace tidemark::transport {
namespace {

constexpr std::string_view kUnix = "unix:";

bool IsHost(std::string_view text) {
  // Spaces and control characters, which a resolver might treat as the end of the name.
  const auto is_alien = [](unsigned char c) { return c <= ' ' || c == 0x7F || c == '/'; };
  if (text.empty() || std::ranges::any_of(text, is_alien)) return false;
  const bool is_bracketed = text.size() > 2 && text.starts_with('[') && text.ends_with(']');
  const std::string_view within = is_bracketed ? text.substr(1, text.size() - 2) : text;
  return within.find_first_of(is_bracketed ? "[]" : "[]:") == std::string_view::npos;
}

constexpr int kMasterPort = 7411;
constexpr std::string_view kPagePort = "7412";
constexpr std::string_view kForm = "must be host:port or unix:PATH";

bool IsIpv6(std::string_view text) {
  in6_addr parsed{};
  return inet_pton(AF_INET6, std::string(text).c_str(), &parsed) == 1;
}

bool IsPort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0;
}

std::string UnixFault(std::string_view address) {
  std::string_view path = address.substr(kUnix.size());
  if (path.starts_with("//")) path.remove_prefix(2);
  if (path.empty() || (address.starts_with("unix://") && !path.starts_with('/'))) {
    return fmt::format(
        "must be unix: and the path of a socket, such as unix:/run/tidemark.sock, not {}", address);
  }
  const std::string fault = UnixPathFault(path);
  return fault.empty() ? "" : fmt::format("{}: {}", address, fault);
}

// Suggests the host and port of the URL. The URL of a page has the host of its master, but another
// port.
std::string UrlFault(std::string_view address, std::size_t scheme_bytes) {
  const std::string_view scheme = address.substr(0, scheme_bytes);
  std::string_view authority = address.substr(scheme_bytes + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const std::size_t colon = authority.rfind(':');
  const bool has_colon =
      colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
  const std::string_view host = authority.substr(0, has_colon ? colon : authority.size());
  const std::string_view port = has_colon ? authority.substr(colon + 1) : "";
  std::string fault = fmt::format("{}, not the URL {}", kForm, address);
  if (IsHost(host)) {
    const bool is_kept = IsPort(port) && port != kPagePort;
    fault += fmt::format("; did you mean {}:{}?", host,
                         is_kept ? std::string(port) : std::to_string(kMasterPort));
  }
  if (scheme == "https") fault += " --tls-ca turns on TLS";
  return fault;
}

// Without brackets, the last group of an IPv6 address could be a port.
std::string BracketsFault(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  const std::string_view before = address.substr(0, colon);
  const std::string_view after = address.substr(colon + 1);
  const bool has_port = IsIpv6(before) && IsPort(after);
  return fmt::format("{}, and an IPv6 address must be in brackets; did you mean [{}]:{}?", kForm,
                     has_port ? before : address,
                     has_port ? std::string(after) : std::to_string(kMasterPort));
}

}  // namespace

std::string MasterAddressFault(std::string_view address) {
  if (address.empty()) return fmt::format("{}, not empty", kForm);
  if (address.starts_with(kUnix)) return UnixFault(address);
  if (address == "unix-abstract:") return UnixFault("unix:");
  if (address.starts_with("unix-abstract:")) return "";
  if (const std::size_t scheme = address.find("://"); scheme != std::string_view::npos) {
    return UrlFault(address, scheme);
  }
  if (IsPort(address)) return fmt::format("host missing; did you mean 127.0.0.1:{}?", address);
  const std::size_t colon = address.rfind(':');
  // Within brackets, a colon is part of the address.
  const bool has_colon =
      colon != std::string_view::npos && address.find(']', colon) == std::string_view::npos;
  const std::string_view host = address.substr(0, has_colon ? colon : address.size());
  const std::string_view port = has_colon ? address.substr(colon + 1) : "";
  if (!address.starts_with('[') && host.find(':') != std::string_view::npos) {
    return IsIpv6(address) || IsIpv6(host) ? BracketsFault(address)
                                           : fmt::format("{}, not {}", kForm, address);
  }
  if (has_colon && host.empty()) {
    return fmt::format("host missing; did you mean 127.0.0.1:{}?",
                       IsPort(port) ? std::string(port) : std::to_string(kMasterPort));
  }
  if (!IsHost(host)) {
    return fmt::format("{}, such as 127.0.0.1:{}, not {}", kForm, kMasterPort, address);
  }
  if (port.empty()) return fmt::format("port missing; did you mean {}:{}?", host, kMasterPort);
  if (!IsPort(port)) return fmt::format("the port must be from 1 to 65535, not {}", port);
  return "";
}

std::string NamedFault(std::string_view name, std::string_view fault) {
  return fmt::format("{}{} {}", name, fault.starts_with("must") ? "" : ":", fault);
}

std::optional<HostPort> ParseHostPort(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || UnixPathOf(address)) return std::nullopt;
  const std::string_view host = address.substr(0, colon);
  const std::string_view number = address.substr(colon + 1);
  HostPort parsed = {.host = std::string(host)};
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), parsed.port);
  const bool is_port = error == std::errc() && end == number.data() + number.size();
  if (!is_port || !IsHost(host)) return std::nullopt;
  return parsed;
}

std::optional<std::string> UnixPathOf(std::string_view address) {
  if (!address.starts_with(kUnix) || address.size() == kUnix.size()) return std::nullopt;
  return std::string(address.substr(kUnix.size()));
}

std::string UnixPathFault(std::string_view path) {
  if (path.size() > kUnixPathBytesMax) {
    return fmt::format(
        "the path is {} bytes long, but a socket path may be at most {}; use a shorter path, "
        "such as "
        "/run/tidemark.sock, or host:port",
        path.size(), kUnixPathBytesMax);
  }
  if (path.ends_with('/')) return "its path ends with /; name a file in that folder";
  if (path.find('\0') != std::string_view::npos) return "its path contains a zero byte; remove it";
  return "";
}

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

// By default, Linux lets every user bind to this port and higher ports.
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

namespace {

std::string AddressText(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family, address, text.data(), text.size());
  return text.data();
}

}  // namespace

std::optional<Peer> PeerOf(int connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return std::nullopt;
  }
  if (address.ss_family == AF_INET) {
    const auto& ip4 = reinterpret_cast<const sockaddr_in&>(address);
    const std::string host = AddressText(AF_INET, &ip4.sin_addr);
    return Peer{fmt::format("ipv4:{}:{}", host, ntohs(ip4.sin_port)), host, true};
  }
  if (address.ss_family != AF_INET6) return Peer{"unix:", "unix", false};
  auto& ip6 = reinterpret_cast<sockaddr_in6&>(address);
  const std::uint16_t port = ntohs(ip6.sin6_port);
  if (IN6_IS_ADDR_V4MAPPED(&ip6.sin6_addr)) {
    const std::string host = AddressText(AF_INET, &ip6.sin6_addr.s6_addr[12]);
    return Peer{fmt::format("ipv4:{}:{}", host, port), host, true};
  }
  const std::string name = fmt::format("ipv6:[{}]:{}", AddressText(AF_INET6, &ip6.sin6_addr), port);
  std::memset(&ip6.sin6_addr.s6_addr[8], 0, 8);
  return Peer{name, AddressText(AF_INET6, &ip6.sin6_addr), true};
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
