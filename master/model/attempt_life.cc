#include "master/model/attempt_life.h"

namespace tidemark::model {
namespace {

int Rank(AttemptState state) {
  switch (state) {
    case AttemptState::kQueued:
      return 0;
    case AttemptState::kStarted:
      return 1;
    case AttemptState::kShuffled:
      return 2;
    case AttemptState::kFinished:
    case AttemptState::kFailed:
    case AttemptState::kKilled:
      return 3;
    case AttemptState::kObsolete:
      return 4;
  }
  return 0;
}

}  // namespace

bool AttemptLife::has_ended() const { return Rank(state_) >= 3; }

bool AttemptLife::Enter(AttemptState state, absl::Time at) {
  // Events of two sources cross: an instant told late is still worth knowing.
  const bool told_late = (state == AttemptState::kStarted && !started_at_) ||
                         (state == AttemptState::kShuffled && !shuffled_at_);
  if (state == AttemptState::kStarted && told_late) started_at_ = at;
  if (state == AttemptState::kShuffled && told_late) shuffled_at_ = at;
  if (Rank(state) <= Rank(state_)) return told_late || state == state_ || Rank(state) == 0;
  if (state == AttemptState::kObsolete && state_ != AttemptState::kFinished) return false;
  state_ = state;
  if (Rank(state) == 3) ended_at_ = at;
  return true;
}

}  // namespace tidemark::model
