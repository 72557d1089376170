// How much an indicator's predicted end has moved lately: its own record on this job.
//
// A forecast that has just jumped by a minute cannot be known to the second, whatever the model
// says. Drift is the root mean square of (end predicted then - end predicted now) over the
// predictions made in the second half of the time since the first one.
//
// Memory: at most 512 predictions; when full every second one is forgotten. Not thread-safe.
#pragma once

#include <vector>

#include "absl/time/time.h"

namespace tidemark::model {

class EndDrift {
 public:
  // `now` never decreases; of one instant the last prediction counts, however often it is repeated
  // (as for a job that is silent). An end that is no instant is left out.
  void Observe(absl::Time now, absl::Time predicted_end);
  // Against the newest prediction; zero before the second one.
  absl::Duration Drift() const;
  // For checkpoints (master/model/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(predictions_);
  }

 private:
  struct Prediction {
    absl::Time made_at;
    absl::Time end;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(made_at, end);
    }
  };
  std::vector<Prediction> predictions_;
};

}  // namespace tidemark::model
