// The single thread of an agent. It executes the commands of the inbox, collects measurements,
// reports at every flush interval, polls the connection, and reports problems to the engine. It
// sleeps while none of these is due. An exception here ends the thread and turns the agent off.
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
#include "agent/shared.h"

namespace tidemark::agent {

class Background {
 public:
  // May throw the exceptions of std::thread.
  Background(const AgentOptions& options, std::shared_ptr<Shared> shared);
  ~Background() { Stop(std::chrono::steady_clock::now()); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Blocks until all events up to now are answered. Returns true if they are and none was dropped.
  bool Flush(Instant deadline);
  // Flushes again without waiting for the end of a backoff. Then ends the connection by
  // `deadline`, and the thread. Idempotent; not thread-safe.
  void Stop(Instant deadline);

 private:
  void Run();
  void RunUntilStopped();
  void TakeUntil(Instant deadline);
  void Execute(const Command& command);
  void GiveUp(const Command& command);
  void GiveUpAll();
  void ReportProblems(absl::Duration patience);
  absl::Duration UnansweredFor() const;
  absl::Duration Patience() const;
  Instant NextSilenceReport(Instant now) const;
  void ReportIfDue(Instant now);
  void ReportAll();
  Instant NextFlush() const;

  const std::shared_ptr<Shared> shared_;

  std::atomic<bool> last_attempt_{false};
  std::atomic<bool> stopping_{false};

  // The members below belong to the thread, and to Stop() after the thread has ended.
  Connection connection_;
  std::vector<Command> commands_;  // the last commands taken from the inbox
  std::size_t executed_ = 0;       // the number of them that were executed
  std::vector<std::shared_ptr<Reporter>> reporters_;
  Instant last_flush_ = std::chrono::steady_clock::now();
  std::thread thread_;
};

}  // namespace tidemark::agent
