// The truth about a simulated reduce phase: where attempts run, and when their key groups end.
// Times are in seconds from the start of the phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bench/accuracy/random.h"
#include "bench/accuracy/workload.h"
#include "tidemark/event.h"

namespace tidemark::bench {

// The speed of a node, in planned seconds of work per second.
struct NominalSpeed {
  double speed = 1;
  // seconds from the start of the phase
  double changes_at = std::numeric_limits<double>::infinity();
  double speed_after = 1;

  double At(double seconds) const { return seconds < changes_at ? speed : speed_after; }
};

// A machine of the virtual cluster. Its true speed is the nominal speed times 1 + noise. The noise
// is a first-order autoregressive process with discrete steps. Results do not depend on the order
// of calls.
class Node {
 public:
  struct Noise {
    double deviation = 0;
    double correlation_seconds = 1;  // time after which 1 / e of the noise remains
    double step_seconds = 1;
  };
  Node(const NominalSpeed& nominal, const Noise& noise, std::uint64_t seed);

  // Returns the end of work that begins at `start` >= 0 and takes `work_seconds` at speed 1.
  double Advance(double start, double work_seconds);

 private:
  double SpeedIn(std::size_t step);

  NominalSpeed nominal_;
  Noise noise_;
  Random random_;
  std::vector<double> noises_;  // one value for each past step
};

// Returns one node for each slot, without noise.
std::vector<Node> WithoutNoise(const std::vector<NominalSpeed>& speeds, double step_seconds);

struct Attempt {
  std::uint32_t task = 0;
  std::uint32_t number = 0;
  std::uint32_t slot = 0;  // also the number of the node, since each node has one slot
  bool speculative = false;
  double start = 0;
  double end = 0;                                  // end of the attempt, whatever its outcome
  AttemptState outcome = AttemptState::kFinished;  // may also be kFailed or kKilled
  std::vector<double> group_ends;  // times that are real, or hypothetical after a failure

  AttemptId id() const { return {kReduceStage, task, number}; }
};

struct Timeline {
  // first attempts of the tasks, in the order of their start, precede other attempts
  std::vector<Attempt> attempts;
  double end = 0;  // end of the last task
};

struct TimelineOptions {
  bool task_fails = false;  // task `failing_task` fails half-way
  std::uint32_t failing_task = 0;
  bool task_has_twin = false;  // a second attempt of the last task starts half-way
};

// Assigns the next task to the slot that becomes free first. If there are several, chooses the
// first of them.
Timeline Schedule(const Workload& workload, std::vector<Node>& nodes,
                  const TimelineOptions& options);

// The reference, which predicts the end from facts that cannot be known while the job runs.
//
// The oracle uses all key groups, the mean of their measured costs, and the nominal speeds of
// nodes. It does not use the measured costs of this run or the noise of nodes. It uses only the
// elapsed time of a running group. Its error is not a lower bound, since an indicator that observes
// a running group can have a smaller error.
class Oracle {
 public:
  // `nodes` have no noise. Both references must outlive this object.
  Oracle(const Workload& workload, const Timeline& timeline, std::vector<Node> nodes);

  // Returns the predicted end in seconds from the start of the phase. `now` never decreases. A call
  // takes O(tasks x slots) time, plus O(1) for each group that has ended since the last call.
  double PredictEnd(double now);

 private:
  // State of an attempt at the time of the last call.
  struct Progress {
    std::size_t groups_done = 0;
    double work_left = 0;  // expected work of unfinished groups
  };
  double PredictAttempt(std::size_t index, double now);

  const Workload& workload_;
  const Timeline& timeline_;
  std::vector<Node> nodes_;
  std::vector<double> task_work_;   // expected work by task
  std::vector<Progress> progress_;  // by attempt
};

}  // namespace tidemark::bench
