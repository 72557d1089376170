#include "proto/wire/attempt_message.h"

namespace tidemark::wire {

v1::AttemptState EncodeAttemptState(AttemptState state) {
  switch (state) {
    case AttemptState::kQueued:
      return v1::ATTEMPT_STATE_QUEUED;
    case AttemptState::kStarted:
      return v1::ATTEMPT_STATE_STARTED;
    case AttemptState::kShuffled:
      return v1::ATTEMPT_STATE_SHUFFLED;
    case AttemptState::kFinished:
      return v1::ATTEMPT_STATE_FINISHED;
    case AttemptState::kFailed:
      return v1::ATTEMPT_STATE_FAILED;
    case AttemptState::kKilled:
      return v1::ATTEMPT_STATE_KILLED;
    case AttemptState::kObsolete:
      return v1::ATTEMPT_STATE_OBSOLETE;
    case AttemptState::kLost:
      return v1::ATTEMPT_STATE_LOST;
  }
  return v1::ATTEMPT_STATE_UNSPECIFIED;
}

std::optional<AttemptState> DecodeAttemptState(v1::AttemptState state) {
  switch (state) {
    case v1::ATTEMPT_STATE_QUEUED:
      return AttemptState::kQueued;
    case v1::ATTEMPT_STATE_STARTED:
      return AttemptState::kStarted;
    case v1::ATTEMPT_STATE_SHUFFLED:
      return AttemptState::kShuffled;
    case v1::ATTEMPT_STATE_FINISHED:
      return AttemptState::kFinished;
    case v1::ATTEMPT_STATE_FAILED:
      return AttemptState::kFailed;
    case v1::ATTEMPT_STATE_KILLED:
      return AttemptState::kKilled;
    case v1::ATTEMPT_STATE_OBSOLETE:
      return AttemptState::kObsolete;
    case v1::ATTEMPT_STATE_LOST:
      return AttemptState::kLost;
    default:
      return std::nullopt;
  }
}

void EncodeAttemptId(const AttemptId& id, v1::TaskAttemptId& message) {
  message.set_stage(id.stage);
  message.set_stage_attempt(id.stage_attempt);
  message.set_index(id.index);
  message.set_attempt(id.attempt);
}

AttemptId DecodeAttemptId(const v1::TaskAttemptId& message) {
  return {.stage = message.stage(),
          .index = message.index(),
          .attempt = message.attempt(),
          .stage_attempt = message.stage_attempt()};
}

}  // namespace tidemark::wire
