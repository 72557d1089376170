// Channels to a master, and streams that resume after interruptions.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/client.h"
#include "tidemark/client_security.h"

namespace tidemark::client {

// Converts a status and keeps its code.
absl::Status FromGrpc(const grpc::Status& status);

// Returns a channel that reconnects quickly and detects a vanished master. Does not connect yet.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MasterChannel(const std::string& address,
                                                             const ClientSecurity& security);

// One Follower serves one watch.
class Follower {
 public:
  // `on_trouble` may be empty.
  Follower(std::string address, const WatchOptions& options,
           std::function<void(const std::string&)> on_trouble);

  // Calls `read_stream`, with pauses in between, until it returns OK (the stream is complete) or an
  // error that a retry cannot resolve. `read_stream` must pass each response to OnResponse().
  // Returns Cancelled if `stop` was requested or the caller needs no further responses. Returns the
  // last error if the outage outlasts options.patience.
  absl::Status Follow(const std::function<absl::Status()>& read_stream,
                      const std::stop_token& stop);

  // Calls `show` to pass on a response. Returns the result of `show`, which is true if the caller
  // wants more responses.
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
  std::mutex mutex_;  // Guards the members below while the listener runs. Held during callbacks.
  bool is_listening_ = false;
  bool is_silent_ = false;  // true after on_trouble has reported the silence
  absl::Time response_at_;
  absl::Duration longest_pause_;
  bool has_response_ = false;
  bool is_wanted_ = true;
  // whether the current or last stream has received a response
  bool has_response_in_stream_ = false;
  absl::Time stream_began_at_;  // start of the current or last stream
  std::optional<absl::Time> troubled_since_;
  std::optional<absl::StatusCode> complained_of_;
  absl::Duration pause_;
};

}  // namespace tidemark::client
