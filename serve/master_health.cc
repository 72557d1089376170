#include "serve/master_health.h"

#include <grpcpp/grpcpp.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/master_channel.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "transport/certificate.h"
#include "transport/host_port.h"

namespace tidemark::serve {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr std::chrono::seconds kAnswerWithin{10};

constexpr int kNoFlags = 0;  // keep the variables of the environment
constexpr int kAnswerWithinMillis = 3000;

// Returns true if the peer responds, even with a refusal, to bytes of no known protocol.
bool Reacts(int connection) {
  constexpr char kNothing[] = "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n";
  if (send(connection, kNothing, sizeof kNothing, MSG_NOSIGNAL) < 0) return true;  // refused
  pollfd answer = {.fd = connection, .events = POLLIN};
  return poll(&answer, 1, kAnswerWithinMillis) > 0;
}

bool ReactsAt(const sockaddr* address, socklen_t size) {
  const int connection = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return false;
  // If the backlog of a hanging server is full, connect() would block for minutes.
  const timeval patience = {.tv_sec = kAnswerWithinMillis / 1000};
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const bool reacts = connect(connection, address, size) == 0 && Reacts(connection);
  close(connection);
  return reacts;
}

bool ReactsAt(const std::string& address) {
  if (const std::optional<std::string> path = transport::UnixPathOf(address)) {
    sockaddr_un name = {.sun_family = AF_UNIX};
    path->copy(name.sun_path, sizeof name.sun_path - 1);
    return ReactsAt(reinterpret_cast<const sockaddr*>(&name), sizeof name);
  }
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const addrinfo hints = {.ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &found) != 0) {
    return false;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (ReactsAt(each->ai_addr, each->ai_addrlen)) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<bool> TakesReports(const std::string& address, const ClientSecurity& security) {
  const auto channel = client::MasterChannel(address, security);
  if (!channel.ok()) return channel.status();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  HealthCheckRequest request;
  request.set_service(v1::IngestService::service_full_name());
  HealthCheckResponse response;
  const grpc::Status status = Health::NewStub(*channel)->Check(&context, request, &response);
  if (!status.ok()) return client::FromGrpc(status);
  return response.status() == HealthCheckResponse::SERVING;
}

std::string DialledAddress(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  if (host == "0.0.0.0") return "127.0.0.1" + address.substr(colon);
  if (host == "[::]") return "[::1]" + address.substr(colon);
  return address;
}

ClientSecurity Trusting(const MasterOptions& options, ClientSecurity security) {
  if (!security.ca_file.empty() || options.tls.certificate_file.empty()) return security;
  security.ca_file = options.tls.certificate_file;
  if (security.server_name.empty()) {
    security.server_name =
        transport::CertificateName(options.tls.certificate_file).value_or(std::string());
  }
  return security;
}

bool MasterAnswers(const MasterOptions& options, const std::string& address) {
  const std::string dialled = DialledAddress(address);
  // Expired or wrong certificates keep new clients out, but a restart would not help, and the
  // master still serves its connected clients.
  if (!options.tls.certificate_file.empty()) return ReactsAt(dialled);
  // An unhealthy master answers as well.
  return TakesReports(dialled, {}).ok();
}

Watchdog::Watchdog(std::function<bool()> answers) : answers_(std::move(answers)) {
  sd_notify(kNoFlags, "READY=1");
  std::uint64_t micros = 0;
  if (sd_watchdog_enabled(kNoFlags, &micros) <= 0) return;
  thread_ = std::thread([this, micros] { Run(absl::Microseconds(micros) / 4); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  sd_notify(kNoFlags, "STOPPING=1");
}

void Watchdog::Run(absl::Duration interval) {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    lock.unlock();
    if (answers_()) sd_notify(kNoFlags, "WATCHDOG=1");
    lock.lock();
    changed_.wait_for(lock, absl::ToChronoNanoseconds(interval), [this] { return ending_; });
  }
}

}  // namespace tidemark::serve
