// Goes on with a stream from a master through the master's absences.
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

// For one watch.
class Follower {
 public:
  // `on_trouble` may be empty.
  Follower(std::string address, const WatchOptions& options,
           std::function<void(const std::string&)> on_trouble);

  // Calls `read_stream` until it returns OK (all was read) or what no other attempt can put right;
  // pauses in between. `read_stream` passes everything it reads to Hear(). Cancelled: `stop` was
  // requested, or no more is wanted. When options.patience is at its end, the last error.
  absl::Status Follow(const std::function<absl::Status()>& read_stream,
                      const std::stop_token& stop);

  // The master has said something: hands it on by calling `show`, and returns what that returns:
  // whether more is wanted.
  bool Hear(const std::function<bool()>& show);

 private:
  void NoteMuteness(const std::stop_token& end);
  bool IsToCome() const { return options_.is_to_come && !has_heard_; }
  bool MayRecover(const absl::Status& status) const;
  std::string Describe(const absl::Status& status) const;
  bool NoteTrouble(const absl::Status& status);
  void BeginStream();
  void EndStream();

  const std::string address_;
  const WatchOptions options_;
  const absl::Duration mute_after_;
  const std::function<void(const std::string&)> on_trouble_;
  std::mutex mutex_;  // guards all below while the listener lives; held during calls
  bool is_listening_ = false;
  bool is_mute_ = false;  // and that was said
  absl::Time heard_at_;
  absl::Duration longest_pause_;
  bool has_heard_ = false;
  bool is_wanted_ = true;
  bool has_brought_ = false;  // the stream that stands, or did last
  absl::Time began_at_;       // of that stream
  std::optional<absl::Time> troubled_since_;
  std::optional<absl::StatusCode> complained_of_;
  absl::Duration pause_;
};

}  // namespace tidemark::client
