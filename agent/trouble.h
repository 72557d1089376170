// Why the master takes nothing of what is said, for the engine to hear: each reason once.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::agent {

// Noted by any thread; told by one at a time, outside of all locks.
class Trouble {
 public:
  using Tell = std::function<void(const std::string&)>;

  // `tell` may be empty: then nothing is kept.
  Trouble(std::string master_address, Tell tell)
      : address_(std::move(master_address)), tell_(std::move(tell)) {}

  // The master refuses a stream or an event. Of each code only the first is told.
  void Refused(int code, const std::string& reason);
  // Nothing can be sent for a reason on this side, such as a file that cannot be read.
  void CannotSend(const std::string& reason);
  // The master cannot take anything at the moment and says why.
  void Stalled(const std::string& reason);
  // The agent gave up for good.
  void TurnedOff(const std::string& reason);

  // Tells what was noted, and that the oldest event has waited for `unanswered_for` when that is at
  // least `patience` and nothing was said about it since everything was last answered. Whatever the
  // engine throws ends the telling.
  void TellNew(absl::Duration unanswered_for, absl::Duration patience,
               const std::string& last_reason);
  // Whether TellNew() would have something to say about a silence.
  bool waits_for_silence() const;

 private:
  // Beside the codes of gRPC.
  static constexpr int kTurnedOff = 29;
  static constexpr int kCannotSend = 30;
  static constexpr int kStalled = 31;

  void Note(int kind, std::string text);
  void Say(const std::string& text);

  const std::string address_;
  mutable std::mutex mutex_;
  // The rest: guarded by mutex_, but for calls of tell_, which only the telling thread makes.
  Tell tell_;
  std::vector<std::string> noted_;
  std::uint32_t kinds_noted_ = 0;  // a bit for each
  bool is_explained_ = false;      // why nothing is answered at the moment
};

}  // namespace tidemark::agent
