#include "master/facts/attempt_life.h"

#include <algorithm>

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
    case AttemptState::kLost:
      return 3;
    case AttemptState::kFinished:
    case AttemptState::kFailed:
    case AttemptState::kKilled:
      return 4;
    case AttemptState::kObsolete:
      return 5;
  }
  return 0;
}

}  // namespace

bool AttemptLife::has_ended() const { return Rank(state_) >= 3; }

bool AttemptLife::Enter(AttemptState state, absl::Time at) {
  // Events of two sources cross: a late instant is still useful.
  const bool told_late = (state == AttemptState::kStarted && !started_at_) ||
                         (state == AttemptState::kShuffled && !shuffled_at_);
  // A clock that is set back, or two clocks, make no attempt end before it started.
  if (state == AttemptState::kStarted && told_late)
    started_at_ = std::min(at, ended_at_.value_or(at));
  if (state == AttemptState::kShuffled && told_late) shuffled_at_ = at;
  if (Rank(state) <= Rank(state_)) return told_late || state == state_ || Rank(state) == 0;
  if (state == AttemptState::kObsolete && state_ != AttemptState::kFinished) return false;
  state_ = state;
  if (Rank(state) == 3 || Rank(state) == 4) ended_at_ = std::max(at, started_at_.value_or(at));
  return true;
}

}  // namespace tidemark::model
