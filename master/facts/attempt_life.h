// The life of one task attempt: its states, when it entered them, and where it ran.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::model {

class AttemptLife {
 public:
  // Enters `state` at `at`. States only go forward: queued, started, shuffled, lost, then one of
  // finished, failed, killed; finished may become obsolete. A state that was passed changes nothing
  // but an instant not known yet. False when it contradicts what is known.
  bool Enter(AttemptState state, absl::Time at);

  AttemptState state() const { return state_; }
  bool is_running() const {
    return state_ == AttemptState::kStarted || state_ == AttemptState::kShuffled;
  }
  bool is_finished() const { return state_ == AttemptState::kFinished; }
  bool has_ended() const;

  std::optional<absl::Time> started_at() const { return started_at_; }
  std::optional<absl::Time> shuffled_at() const { return shuffled_at_; }
  // Returns when a lost attempt was last known to run.
  std::optional<absl::Time> ended_at() const { return ended_at_; }

  std::string host;
  std::string input_name;
  std::string failure;  // why it failed or was killed
  bool speculative = false;
  std::optional<std::uint64_t> input_bytes;
  std::optional<std::uint64_t> input_records;
  absl::Time last_heard_at = absl::InfinitePast();

 private:
  AttemptState state_ = AttemptState::kQueued;
  std::optional<absl::Time> started_at_;
  std::optional<absl::Time> shuffled_at_;
  std::optional<absl::Time> ended_at_;
};

}  // namespace tidemark::model
