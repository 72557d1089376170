// Tells systemd that the service is up, and goes on telling it while the master answers.
//
// A master's threads can be alive while it accepts no connection. So the watchdog of
// systemd (WatchdogSec in the unit) is fed only after an answer to a new connection. Without
// systemd nothing happens.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "tidemark/master.h"

namespace tidemark::cli {

// Whether a master with these options, which listens at `address`, answers a new connection within
// a few seconds: a health check or, over TLS, any answer to a greeting that means nothing, whatever
// has become of the certificates. Connects to this host if the address stands for all of its
// addresses.
bool MasterAnswers(const MasterOptions& options, const std::string& address);

class Watchdog {
 public:
  // Calls `answers` on a thread of its own, four times in the time that systemd allows, until it
  // is destroyed, and feeds systemd's watchdog if that returns true.
  explicit Watchdog(std::function<bool()> answers);
  ~Watchdog();  // tells systemd that the service ends
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

}  // namespace tidemark::cli
