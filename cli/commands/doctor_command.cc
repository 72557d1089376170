#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/master_trouble.h"
#include "cli/progress.h"
#include "console/text.h"
#include "serve/dialled_address.h"
#include "serve/directory_holder.h"
#include "serve/master_health.h"
#include "text/size_text.h"
#include "tidemark/client.h"
#include "tidemark/master.h"
#include "transport/bind_addresses.h"
#include "transport/can_listen.h"
#include "transport/certificate.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

// An event log of a long job takes some hundred megabytes.
constexpr std::uint64_t kRoomBytesMin = 1'000'000'000;
// Enough for a holiday of the administrator.
constexpr absl::Duration kRenewBefore = absl::Hours(24 * 30);

// Prints each finding on a line of standard output.
class Report {
 public:
  void Fine(const std::string& what, const std::string& finding) { Tell("ok", what, finding); }
  void Warn(const std::string& what, const std::string& finding) { Tell("warn", what, finding); }
  void Fail(const std::string& what, const std::string& finding) {
    failed_ = true;
    Tell("FAIL", what, finding);
  }
  // Whether the status is OK; reports the error if not.
  bool Check(const std::string& what, const absl::Status& status) {
    std::istringstream lines{std::string(status.message())};
    for (std::string line; std::getline(lines, line);) Fail(what, line);
    return status.ok();
  }
  bool failed() const { return failed_; }

 private:
  static void Tell(const char* verdict, const std::string& what, const std::string& finding) {
    WriteLine(stdout, fmt::format("{:<5} {:<12} {}", verdict, what,
                                  console::Printable(finding, /*unicode=*/true)));
  }
  bool failed_ = false;
};

void CheckSecret(const char* what, const std::string& file, Report& report) {
  if (file.empty()) return;
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return;  // said elsewhere
  if (transport::CheckSecretFile(file).ok()) {    // else that was said as well
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

// Creates a directory in `folder` and removes it again. Returns 0 or an errno. A lack of space is
// no error here, since a master that runs must not become unhealthy by it.
int TryToCreateIn(const std::string& folder) {
  std::string trial = (std::filesystem::path(folder) / ".tidemark-doctor-XXXXXX").string();
  if (::mkdtemp(trial.data()) == nullptr) return errno == ENOSPC || errno == EDQUOT ? 0 : errno;
  ::rmdir(trial.c_str());
  return 0;
}

// Returns the nearest ancestor of a missing folder that exists, in which it would be created.
std::string ExistingAncestor(const std::string& folder) {
  std::error_code error;
  std::filesystem::path ancestor = std::filesystem::absolute(folder, error);
  while (ancestor.has_relative_path() && !std::filesystem::exists(ancestor, error)) {
    ancestor = ancestor.parent_path();
  }
  return ancestor.string();
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
    report.Warn(setting,
                fmt::format("{}; at least {} is advised", finding, text::SizeText(kRoomBytesMin)));
  } else {
    report.Fine(setting, finding);
  }
}

// Reports the health of a Tidemark master that answers.
void TellOfMaster(const MasterOptions& options, bool serves, const ClientSecurity& security,
                  Report& report) {
  const std::string& address = options.listen_address;
  if (!serves) {
    return report.Fail(
        "master",
        fmt::format("a master runs at {}, but takes no reports: its log says why", address));
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
    report.Warn("master", fmt::format("a healthy master runs at {}, but does not show its jobs: {}",
                                      address, ReasonOf(jobs.status())));
  }
}

// Beside the master's own: of the page and of the metrics.
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

// No master answers, and the process has the data directory.
void TellOfHolder(const MasterOptions& options, std::int64_t process, bool is_address_free,
                  const std::string& reason, Report& report) {
  const std::string& folder = options.data_dir;
  const std::string& address = options.listen_address;
  if (is_address_free) {
    return report.Fail(
        "master", fmt::format("process {} has {}, but nothing listens at {}: a master that is "
                              "about to start or to end, or one with another address; wait for it, "
                              "end it, or name another data_dir",
                              process, folder, address));
  }
  if (IsStopped(process)) {
    return report.Fail("master", fmt::format("process {} has {} and is stopped; kill -CONT {} lets "
                                             "it go on",
                                             process, folder, process));
  }
  report.Fail(
      "master",
      fmt::format("process {} has {} and does not answer at {} ({}): a master that hangs, "
                  "is overloaded, or was started with other settings; its log says more. If "
                  "it does not recover, end it (kill {}, if need be kill -9) and start it "
                  "again: it goes on with its jobs",
                  process, folder, address, reason, process));
}

// Whether a master answers at the address; if not, whether one could run.
void CheckAddress(const ServeConfig& config, const ClientSecurity& given, Report& report) {
  const MasterOptions& options = config.master;
  const std::string& address = options.listen_address;
  const ClientSecurity security = Trusting(options, given);
  const auto serves = TakesReports(DialledAddress(address), security);
  if (serves.ok()) return TellOfMaster(options, *serves, security, report);
  const absl::Status can_listen = transport::CanListen(address);
  if (!can_listen.ok() && !transport::IsAddressInUse(can_listen)) {
    return report.Fail("master", std::string(can_listen.message()));
  }
  const bool is_stranger = !options.tls.client_ca_file.empty() && given.certificate_file.empty();
  if (!can_listen.ok() && is_stranger) {
    return report.Warn("master",
                       fmt::format("{} is in use, by a master or by something else: with "
                                   "tls.client_ca, only --tls-certificate and --tls-key can tell",
                                   address));
  }
  if (const auto holder = HolderOf(options.data_dir)) {
    return TellOfHolder(options, *holder, can_listen.ok(), ReasonOf(serves.status()), report);
  }
  if (can_listen.ok()) {
    report.Fine("master", fmt::format("none runs at {}; the address is free", address));
    return CheckOtherAddresses(config, report);
  }
  report.Fail("master", fmt::format("{}; it does not answer as a master ({}). If it is a master "
                                    "that hangs, start it again",
                                    std::string(can_listen.message()), ReasonOf(serves.status())));
}

}  // namespace

int Do(const DoctorArguments& arguments) {
  Report report;
  const auto config = LoadServeConfig(arguments.serve.config_file, arguments.serve.overrides);
  if (!report.Check("settings", config.status())) return kJobFailed;
  const MasterOptions& master = config->master;
  report.Fine("settings", arguments.serve.config_file.empty() ? "defaults and command line"
                                                              : arguments.serve.config_file);
  if (report.Check("options", Validate(master))) report.Fine("options", "no conflicts");
  CheckCertificate("tls", master.tls.certificate_file, report);
  CheckCertificate("tls", master.tls.client_ca_file, report);
  CheckSecret("tls", master.tls.key_file, report);
  CheckSecret("tokens", master.tokens_file, report);
  if (const std::size_t count = config->alerts.hooks.size(); count > 0) {
    report.Fine("alerts", fmt::format("{} {}", count, count == 1 ? "webhook" : "webhooks"));
  }
  if (!config->lineage.url.empty()) {
    LineageSettings lineage = config->lineage;
    report.Check("lineage", TakeParentOfEnvironment(std::getenv(kParentVariable), lineage));
    CheckSecret("lineage", config->lineage.token_file, report);
  }
  for (const AlertHook& hook : config->alerts.hooks) {
    if (hook.url.starts_with('@')) CheckSecret("alerts", hook.url.substr(1), report);
  }
  CheckSecret("alerts", config->alerts.secret_file, report);
  CheckSecret("alerts", config->alerts.routing_key_file, report);
  if (master.data_dir.empty()) {
    report.Warn("data_dir", "not set: jobs are lost when the master stops");
  }
  CheckFolder("data_dir", master.data_dir, report);
  CheckFolder("log_dir", master.event_log_dir, report);
  if (!report.failed()) CheckAddress(*config, arguments.security, report);
  return report.failed() ? kJobFailed : kSuccess;
}

}  // namespace tidemark::cli
