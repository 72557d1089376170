#include "serve/doctor.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "client/follower.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "text/size_text.h"
#include "tidemark/client.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "transport/channel.h"
#include "transport/listen_address.h"
#include "transport/small_file.h"
#include "transport/turn_queue.h"

namespace tidemark::serve {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr std::chrono::seconds kAnswerWithin{10};

constexpr int kNoFlags = 0;  // Keeps the environment variables.
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
  // Expired or wrong certificates keep new clients out. However, a restart would not help, and the
  // master still serves its connected clients.
  if (!options.tls.certificate_file.empty()) return ReactsAt(dialled);
  // An unhealthy master also answers.
  return TakesReports(dialled, {}).ok();
}

Watchdog::Watchdog(std::function<bool()> answers) : answers_(std::move(answers)) {
  sd_notify(kNoFlags, "READY=1");
  std::uint64_t micros = 0;
  if (sd_watchdog_enabled(kNoFlags, &micros) <= 0) return;
  thread_ = std::jthread([this, micros](const std::stop_token& stop) {
    do {
      if (answers_()) sd_notify(kNoFlags, "WATCHDOG=1");
    } while (!transport::AwaitStop(stop, absl::Microseconds(micros) / 4));
  });
}

Watchdog::~Watchdog() {
  thread_ = {};
  sd_notify(kNoFlags, "STOPPING=1");
}

namespace {

// Recommended free space. The event log of a long job takes several hundred megabytes.
constexpr std::uint64_t kRoomBytesMin = 1'000'000'000;
// A certificate that expires sooner is reported. The period is long enough for an absent
// administrator to return and renew it.
constexpr absl::Duration kRenewBefore = absl::Hours(24 * 30);

class Report {
 public:
  explicit Report(const std::function<void(const Finding&)>& sink) : sink_(sink) {}
  void Fine(const std::string& subject, const std::string& text) {
    sink_({Finding::Verdict::kOk, subject, text});
  }
  void Warn(const std::string& subject, const std::string& text) {
    sink_({Finding::Verdict::kWarning, subject, text});
  }
  void Fail(const std::string& subject, const std::string& text) {
    failed_ = true;
    sink_({Finding::Verdict::kFailure, subject, text});
  }
  // Reports each line of an error as a failure. Returns true if the status is OK.
  bool Check(const std::string& subject, const absl::Status& status) {
    std::istringstream lines{std::string(status.message())};
    for (std::string line; std::getline(lines, line);) Fail(subject, line);
    return status.ok();
  }
  bool failed() const { return failed_; }

 private:
  const std::function<void(const Finding&)>& sink_;
  bool failed_ = false;
};

std::string PlainReasonOf(const absl::Status& status) {
  return transport::PlainReason(std::string(status.message()));
}

void CheckSecret(const char* what, const std::string& file, Report& report) {
  if (file.empty()) return;
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return;  // The settings check reports this.
  if (transport::CheckSecretFile(file).ok()) {
    report.Fine(what, fmt::format("{} is not readable by others", file));
  }
}

void CheckCertificate(const char* what, const std::string& file, Report& report) {
  if (file.empty()) return;
  const absl::Time now = absl::Now();
  const auto end = transport::CertificateEnd(file, now);
  if (!report.Check(what, end.status())) return;
  const std::string until = fmt::format(
      "{} is valid until {}", file, absl::FormatTime("%Y-%m-%d %H:%M", *end, absl::UTCTimeZone()));
  if (*end - now < kRenewBefore) {
    report.Warn(what, until + "; renew it");
  } else {
    report.Fine(what, until);
  }
}

// Creates a directory in `folder` and removes it. Returns 0 or an errno. A full disk is not an
// error here, since it must not make a running master count as unhealthy.
int TryToCreateIn(const std::string& folder) {
  std::string trial = (std::filesystem::path(folder) / ".tidemark-doctor-XXXXXX").string();
  if (::mkdtemp(trial.data()) == nullptr) return errno == ENOSPC || errno == EDQUOT ? 0 : errno;
  ::rmdir(trial.c_str());
  return 0;
}

// Returns the nearest existing ancestor of a missing folder.
std::string ExistingAncestor(const std::string& folder) {
  std::error_code error;
  std::filesystem::path ancestor = std::filesystem::absolute(folder, error);
  while (ancestor.has_relative_path() && !std::filesystem::exists(ancestor, error)) {
    ancestor = ancestor.parent_path();
  }
  return ancestor.string();
}

// Checks a folder that a master reads and never creates.
void CheckReadFolder(const char* setting, const std::string& folder, Report& report) {
  if (folder.empty()) return;
  std::error_code error;
  const std::filesystem::directory_iterator files(folder, error);
  if (error) report.Fail(setting, fmt::format("{}: {}", folder, error.message()));
}

void CheckFolder(const char* setting, const std::string& folder, Report& report) {
  if (folder.empty()) return;
  struct stat facts {};
  const bool is_missing = ::stat(folder.c_str(), &facts) != 0;
  const int reason = is_missing ? errno : 0;
  if (is_missing && reason != ENOENT) {
    return report.Fail(setting, fmt::format("{}: {}", folder, std::strerror(reason)));
  }
  if (!is_missing && !S_ISDIR(facts.st_mode)) {
    return report.Fail(setting, folder + ": Not a directory");
  }
  const std::string parent = is_missing ? ExistingAncestor(folder) : folder;
  if (const int error = TryToCreateIn(parent); error != 0) {
    return report.Fail(setting, fmt::format("{}: cannot create files in {}: {}", folder, parent,
                                            std::strerror(error)));
  }
  if (is_missing) {
    return report.Warn(setting, fmt::format("{}: {}; `tidemark serve` will create it", folder,
                                            std::strerror(reason)));
  }
  if ((facts.st_mode & S_IRWXO) != 0 && setting == std::string("data_dir")) {
    report.Warn(setting, fmt::format("{} is open to every user of this host; run chmod o= {}",
                                     folder, folder));
  }
  struct statvfs room {};
  if (::statvfs(folder.c_str(), &room) != 0) return;
  const std::uint64_t free_bytes = std::uint64_t{room.f_bavail} * room.f_frsize;
  const std::string finding = fmt::format("{} free in {}", text::SizeText(free_bytes), folder);
  if (free_bytes < kRoomBytesMin) {
    report.Warn(setting, fmt::format("{}; at least {} is recommended", finding,
                                     text::SizeText(kRoomBytesMin)));
  } else {
    report.Fine(setting, finding);
  }
}

// Reports the health of a Tidemark master that answers.
void ReportMaster(const MasterOptions& options, bool serves, const ClientSecurity& security,
                  Report& report) {
  const std::string& address = options.listen_address;
  if (!serves) {
    return report.Fail(
        "master",
        fmt::format("a master runs at {}, but rejects events; its log gives the reason", address));
  }
  const auto master = Client::Create({.address = DialledAddress(address), .security = security});
  const auto jobs =
      master.ok() ? (*master)->ListJobs() : absl::StatusOr<std::vector<Snapshot>>(master.status());
  if (jobs.ok()) {
    report.Fine("master", fmt::format("a healthy master runs at {} and has {} {}", address,
                                      jobs->size(), jobs->size() == 1 ? "job" : "jobs"));
  } else if (security.token_file.empty()) {
    report.Fine("master", fmt::format("a healthy master runs at {}", address));
  } else {
    report.Warn("master", fmt::format("a healthy master runs at {}, but does not list its jobs: {}",
                                      address, PlainReasonOf(jobs.status())));
  }
}

void CheckOtherAddresses(const ServeConfig& config, Report& report) {
  const std::pair<const char*, const std::string&> others[] = {{"web", config.web_address},
                                                               {"metrics", config.metrics_address}};
  for (const auto& [name, address] : others) {
    if (address.empty()) continue;
    if (report.Check(name, transport::CanListen(address))) {
      report.Fine(name, fmt::format("{} is free", address));
    }
  }
}

// Reports a process that holds the data directory although no master answers.
void ReportHolder(const MasterOptions& options, std::int64_t process, bool is_address_free,
                  const std::string& reason, Report& report) {
  const std::string& folder = options.data_dir;
  const std::string& address = options.listen_address;
  if (is_address_free) {
    return report.Fail("master",
                       fmt::format("process {} uses {}, but no process listens at {}: the master "
                                   "is starting or stopping, or uses a different address; wait for "
                                   "it, stop it, or set a different data_dir",
                                   process, folder, address));
  }
  if (IsStopped(process)) {
    return report.Fail(
        "master", fmt::format("process {} uses {} and is stopped; resume it with kill -CONT {}",
                              process, folder, process));
  }
  report.Fail(
      "master",
      fmt::format("process {} uses {} and does not answer at {} ({}): the master hangs, is "
                  "overloaded, or runs with different settings; see its log. If it does not "
                  "recover, stop it (kill {}, or else kill -9) and restart it; it resumes its jobs",
                  process, folder, address, reason, process));
}

// Checks whether a master answers at the address and, if not, whether one could run.
void CheckMaster(const ServeConfig& config, const ClientSecurity& given, Report& report) {
  const MasterOptions& options = config.master;
  const std::string& address = options.listen_address;
  const ClientSecurity security = Trusting(options, given);
  const auto serves = TakesReports(DialledAddress(address), security);
  if (serves.ok()) return ReportMaster(options, *serves, security, report);
  const absl::Status can_listen = transport::CanListen(address);
  if (!can_listen.ok() && !transport::IsAddressInUse(can_listen)) {
    return report.Fail("master", std::string(can_listen.message()));
  }
  const bool is_unidentified =
      !options.tls.client_ca_file.empty() && given.certificate_file.empty();
  if (!can_listen.ok() && is_unidentified) {
    return report.Warn(
        "master",
        fmt::format("{} is in use by a master or another program; with tls.client_ca, pass "
                    "--tls-certificate and --tls-key to identify it",
                    address));
  }
  if (const auto holder = LockHolderOf(options.data_dir)) {
    return ReportHolder(options, *holder, can_listen.ok(), PlainReasonOf(serves.status()), report);
  }
  if (can_listen.ok()) {
    report.Fine("master", fmt::format("no master runs at {}; the address is free", address));
    return CheckOtherAddresses(config, report);
  }
  report.Fail("master",
              fmt::format("{}; the process there does not answer as a master ({}); if it is a "
                          "hung master, restart it",
                          std::string(can_listen.message()), PlainReasonOf(serves.status())));
}

}  // namespace

bool Diagnose(const std::string& config_file, const std::vector<SettingOverride>& overrides,
              const ClientSecurity& security, const std::function<void(const Finding&)>& sink) {
  Report report(sink);
  const auto config = LoadServeConfig(config_file, overrides);
  if (!report.Check("settings", config.status())) return false;
  const MasterOptions& master = config->master;
  report.Fine("settings", config_file.empty() ? "defaults and command line" : config_file);
  if (report.Check("options", Validate(master))) report.Fine("options", "no conflicts");
  CheckCertificate("tls", master.tls.certificate_file, report);
  CheckCertificate("tls", master.tls.client_ca_file, report);
  CheckSecret("tls", master.tls.key_file, report);
  CheckSecret("tokens", master.tokens_file, report);
  if (const std::size_t count = config->alerts.hooks.size(); count > 0) {
    report.Fine("alerts", fmt::format("{} {}", count, count == 1 ? "webhook" : "webhooks"));
    if (!config->web_address.empty() && config->page_url.empty()) {
      report.Warn("alerts", "messages contain no link to the job; set web.public_url");
    }
  }
  if (!config->lineage.url.empty()) {
    LineageSettings lineage = config->lineage;
    report.Check("lineage", SetParentFromEnvironment(std::getenv(kParentVariable), lineage));
    CheckSecret("lineage", config->lineage.token_file, report);
  }
  for (const AlertHook& hook : config->alerts.hooks) {
    if (hook.url.starts_with('@')) CheckSecret("alerts", hook.url.substr(1), report);
  }
  CheckSecret("alerts", config->alerts.secret_file, report);
  CheckSecret("alerts", config->alerts.routing_key_file, report);
  if (master.data_dir.empty()) {
    report.Warn("data_dir", "not set; jobs are lost when the master stops");
  }
  CheckFolder("data_dir", master.data_dir, report);
  CheckFolder("log_dir", master.event_log_dir, report);
  CheckReadFolder("spark_logs", config->spark_logs, report);
  CheckReadFolder("history_logs", config->history_logs, report);
  if (!report.failed()) CheckMaster(*config, security, report);
  return !report.failed();
}

// A line looks like "1: FLOCK  ADVISORY  WRITE 4711 fe:00:9987572 0 EOF". A waiting process has
// "->" after the number.
std::optional<std::int64_t> LockHolder(const std::string& locks, const FileId& file) {
  const std::string wanted =
      fmt::format("{:02x}:{:02x}:{}", file.device_major, file.device_minor, file.inode);
  std::istringstream lines(locks);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, kind, strictness, access, id;
    std::int64_t process = 0;
    words >> number >> kind >> strictness >> access >> process >> id;
    if (words && kind == "FLOCK" && process > 0 && id == wanted) return process;
  }
  return std::nullopt;
}

bool IsStopped(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string facts{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // The format is PID (NAME) STATE ..., where the name may contain any character.
  const std::size_t name_end = facts.rfind(')');
  return name_end != facts.npos && facts.substr(name_end + 1).starts_with(" T");
}

std::optional<std::int64_t> LockHolderOf(const std::string& data_dir) {
  if (data_dir.empty()) return std::nullopt;
  struct stat facts {};
  // master/store/disk.cc locks this file.
  if (::stat((data_dir + "/LOCK").c_str(), &facts) != 0) return std::nullopt;
  std::ifstream file("/proc/locks");
  const std::string locks{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return LockHolder(locks, {.device_major = major(facts.st_dev),
                            .device_minor = minor(facts.st_dev),
                            .inode = facts.st_ino});
}

}  // namespace tidemark::serve
