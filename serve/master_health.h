// Checks whether a master answers, for the commands of its host and for systemd's watchdog.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/client_security.h"
#include "tidemark/master.h"

namespace tidemark::serve {

// Returns the address at which a client on this host reaches a master that listens at `address`.
// Replaces 0.0.0.0 and [::], which cannot be dialled, by loopback addresses.
std::string DialledAddress(const std::string& address);

// Returns `security`; if it names no CA, the result trusts the certificate of the master itself.
ClientSecurity Trusting(const MasterOptions& options, ClientSecurity security);

// Returns true if the master at the address accepts events, according to grpc.health.v1 of its
// IngestService, which requires no token. Returns NotFound or Unimplemented if the server is not a
// master.
absl::StatusOr<bool> TakesReports(const std::string& address, const ClientSecurity& security);

// Returns true if a master with these options answers a new connection to `address` within a few
// seconds. Without TLS this is a health check. With TLS any response counts, even a refusal, so
// that expired certificates do not matter.
bool MasterAnswers(const MasterOptions& options, const std::string& address);

// Notifies systemd that the service is up, and feeds its watchdog (WatchdogSec in the unit) while
// the master answers. The threads of a master can be alive although it accepts no connection. Does
// nothing if systemd does not manage the process.
class Watchdog {
 public:
  // Calls `answers` on its own thread four times per watchdog period until it is destroyed. Feeds
  // the watchdog after each call that returns true.
  explicit Watchdog(std::function<bool()> answers);
  ~Watchdog();  // notifies systemd that the service stops
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void Run(absl::Duration interval);

  const std::function<bool()> answers_;
  std::mutex mutex_;  // guards ending_
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tidemark::serve
