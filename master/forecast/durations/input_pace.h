// How long a running task takes, by the pace at which it reads its input.
//
// A task that has read a part f of its input after r seconds takes about
//
//   r / (f s)
//
// seconds in total. The read share s is the part of their time in which finished tasks of the same
// stage read their input. A task that commits, cleans up, or computes after its last byte has a
// share below one.
#pragma once

namespace tidemark::cost {

// The total time of a running task, predicted from its pace.
struct PacedTotal {
  double seconds = 0;
  double deviation = 0;  // of its logarithm
};

// The read share of a stage, computed from its finished tasks.
class ReadShare {
 public:
  // Adds a finished task that took `seconds`; `read_for` of them passed until it had read its
  // input. Ignores invalid times.
  void Add(double read_for, double seconds);
  // Returns the total time of a task that has read `fraction` of its input after `read_for`
  // seconds. REQUIRES: both are above zero.
  PacedTotal TotalOf(double read_for, double fraction) const;

 private:
  double count_ = 0;
  double logs_ = 0;     // sum of ln s
  double squares_ = 0;  // sum of (ln s)^2
};

}  // namespace tidemark::cost
