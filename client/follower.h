// Resumes a stream from a master after interruptions.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tidemark/client.h"

namespace tidemark::client {

// One Follower serves one watch.
class Follower {
 public:
  // `on_trouble` may be empty.
  Follower(std::string address, const WatchOptions& options,
           std::function<void(const std::string&)> on_trouble);

  // Calls `read_stream`, with pauses in between, until it returns OK (the stream is complete) or
  // an error that a retry cannot resolve. `read_stream` passes each response to OnResponse().
  // Returns Cancelled if `stop` was requested or the caller needs no further responses. Returns
  // the last error if the trouble outlasts options.patience.
  absl::Status Follow(const std::function<absl::Status()>& read_stream,
                      const std::stop_token& stop);

  // Passes a response on by calling `show`. Returns the result of `show`, which is true if the
  // caller wants more responses.
  bool OnResponse(const std::function<bool()>& show);

 private:
  void CheckForSilence(const std::stop_token& end);
  bool MayBeAbsent() const { return options_.is_to_come && !has_response_; }
  bool MayRecover(const absl::Status& status) const;
  std::string Describe(const absl::Status& status) const;
  bool ReportTrouble(const absl::Status& status);
  void BeginStream();
  void EndStream();

  const std::string address_;
  const WatchOptions options_;
  const absl::Duration mute_after_;
  const std::function<void(const std::string&)> on_trouble_;
  std::mutex mutex_;  // guards the members below while the listener runs; held during callbacks
  bool is_listening_ = false;
  bool is_silent_ = false;  // true after the silence was reported to on_trouble
  absl::Time response_at_;
  absl::Duration longest_pause_;
  bool has_response_ = false;
  bool is_wanted_ = true;
  bool has_response_in_stream_ = false;  // the current or last stream received a response
  absl::Time stream_began_at_;           // the start of that stream
  std::optional<absl::Time> troubled_since_;
  std::optional<absl::StatusCode> complained_of_;
  absl::Duration pause_;
};

}  // namespace tidemark::client
