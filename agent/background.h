// The one thread of an agent: does what the inbox says, collects what tasks measured, reports at
// every flush interval, looks after the connection, tells the engine of trouble. It sleeps whenever
// none of these is due. What is thrown here ends the thread and turns the agent off, no more.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/connection.h"
#include "agent/inbox.h"
#include "agent/monotonic.h"
#include "agent/reporter.h"
#include "agent/shared.h"

namespace tidemark::agent {

class Background {
 public:
  // May throw what std::thread throws.
  Background(const AgentOptions& options, std::shared_ptr<Shared> shared);
  ~Background() { Stop(std::chrono::steady_clock::now()); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Waits until what was said so far is answered; whether it was, and none of it dropped.
  bool Flush(Instant deadline);
  // The same once more, without waiting for the end of a backoff; then ends the connection by
  // `deadline` and the thread. Idempotent; not thread-safe.
  void Stop(Instant deadline);

 private:
  void Run();
  void RunUntilStopped();
  void TakeUntil(Instant deadline);
  void Execute(const Command& command);
  void GiveUp(const Command& command);
  void GiveUpAll();
  void TellTrouble(absl::Duration patience);
  absl::Duration UnansweredFor() const;
  absl::Duration Patience() const;
  Instant NextTrouble(Instant now) const;
  void ReportIfDue(Instant now);
  void ReportAll();
  Instant NextFlush() const;

  const std::shared_ptr<Shared> shared_;

  std::atomic<bool> last_attempt_{false};
  std::atomic<bool> stopping_{false};

  // The rest belongs to the thread, and to Stop() when it has ended.
  Connection connection_;
  std::vector<Command> commands_;  // as taken last ...
  std::size_t executed_ = 0;       // ... and how many of them were executed
  std::vector<std::shared_ptr<Reporter>> reporters_;
  Instant last_flush_ = std::chrono::steady_clock::now();
  std::thread thread_;
};

}  // namespace tidemark::agent
