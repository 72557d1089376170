// Checks whether a master with the given settings runs or could run (`tidemark doctor`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "serve/config/serve_config.h"
#include "tidemark/client_security.h"
#include "tidemark/master.h"

namespace tidemark::serve {

// Checks whether a master answers, for commands on its host and for systemd's watchdog.

// Returns the address at which a client on this host reaches a master that listens on `address`.
// Replaces 0.0.0.0 and [::], which cannot be dialled, by loopback addresses.
std::string DialledAddress(const std::string& address);

// Returns `security`. If it names no CA, the result trusts the certificate of the master itself.
ClientSecurity Trusting(const MasterOptions& options, ClientSecurity security);

// Returns true if the master at the address accepts events, according to the grpc.health.v1 status
// of its IngestService, which requires no token. Fails with NotFound or Unimplemented if the server
// is not a master.
absl::StatusOr<bool> TakesReports(const std::string& address, const ClientSecurity& security);

// Returns true if a master with these options answers a new connection to `address` within a few
// seconds. Without TLS, this is a health check. With TLS, any response counts, even a refusal, so
// that expired certificates do not matter.
bool MasterAnswers(const MasterOptions& options, const std::string& address);

// Notifies systemd that the service is up, and feeds its watchdog (WatchdogSec in the unit) while
// the master answers. A master's threads can be alive although it accepts no connection. Does
// nothing if systemd does not manage the process.
class Watchdog {
 public:
  // Calls `answers` on its own thread four times per watchdog period until it is destroyed. Feeds
  // the watchdog after each call that returns true.
  explicit Watchdog(std::function<bool()> answers);
  ~Watchdog();  // notifies systemd that the service is stopping
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  const std::function<bool()> answers_;
  std::jthread thread_;
};

struct Finding {
  enum class Verdict : std::uint8_t { kOk, kWarning, kFailure };
  Verdict verdict = Verdict::kOk;
  std::string subject;  // a setting or section, such as "data_dir"
  std::string text;     // may contain text from files and other programs
};

// Reads the settings like LoadServeConfig() and passes each finding to `report` in order, as soon
// as it is known. Returns false if any finding is a failure. `security` identifies the caller to a
// running master. Blocks for about ten seconds if a server does not answer.
bool Diagnose(const std::string& config_file, const std::vector<SettingOverride>& overrides,
              const ClientSecurity& security, const std::function<void(const Finding&)>& report);

// The identity of a file in the kernel.
struct FileId {
  unsigned device_major = 0;
  unsigned device_minor = 0;
  std::uint64_t inode = 0;
};

// Returns the process that has locked the file. `locks` is the contents of /proc/locks. Pure.
std::optional<std::int64_t> LockHolder(const std::string& locks, const FileId& file);

// Returns the process that holds a master's lock on the data directory. Takes no lock itself, since
// that would keep a master out. Returns nullopt if no process holds the lock or the kernel does not
// show it. The kernel hides processes of other containers, and locks on file systems whose files
// have other devices than their mounts (btrfs).
std::optional<std::int64_t> LockHolderOf(const std::string& data_dir);

// Returns true if the process was stopped, for example by SIGSTOP or Ctrl-Z. Returns false if this
// is unknown.
bool IsStopped(std::int64_t process);

}  // namespace tidemark::serve
