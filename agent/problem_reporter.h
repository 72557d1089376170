// Reports to the engine why the master accepts no events. Reports each reason once.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::agent {

// Any thread may record a problem. One thread at a time reports them, outside of all locks.
class ProblemReporter {
 public:
  using Callback = std::function<void(const std::string&)>;

  // If `report` is empty, nothing is recorded.
  ProblemReporter(std::string master_address, Callback report)
      : address_(std::move(master_address)), report_(std::move(report)) {}

  // Records that the master rejected a stream or an event. Only the first problem of each code is
  // reported.
  void OnRejected(int code, const std::string& reason);
  // Records a local reason why the agent cannot send, such as an unreadable file.
  void OnLocalError(const std::string& reason);
  // Records the master's reason why it cannot accept events now.
  void OnStalled(const std::string& reason);
  // Records that the agent has turned itself off.
  void OnTurnedOff(const std::string& reason);

  // Reports the recorded problems. Also reports an unresponsive master if `unanswered_for` is at
  // least `patience`, at most once until all events are answered. Skips this report if another
  // problem has been recorded in that time.
  // After an exception of the engine, reports no further problems.
  void ReportNew(absl::Duration unanswered_for, absl::Duration patience,
                 const std::string& last_reason);
  // Returns true if ReportNew() may have to report an unresponsive master.
  bool waits_for_silence() const;

 private:
  // Kinds of problems in addition to the codes of gRPC.
  static constexpr int kTurnedOff = 29;
  static constexpr int kCannotSend = 30;
  static constexpr int kStalled = 31;

  void Note(int kind, std::string text);
  void Report(const std::string& text);

  const std::string address_;
  mutable std::mutex mutex_;
  // The members below are guarded by mutex_, except calls of report_, which one thread makes.
  Callback report_;
  std::vector<std::string> noted_;
  std::uint32_t kinds_noted_ = 0;  // one bit for each
  bool is_explained_ = false;      // the reason of the current outage has been reported
};

}  // namespace tidemark::agent
