// What tasks of a stage take of which nothing has been seen, by the other stages of its run.
//
// With y the logs of the task times of the stages that have been seen, tasks that fetch what other
// stages wrote and tasks that read the input of the run differ by d, with a normal prior N(-1,
// 0.7^2) and a scatter of 1 in y (cost::kUnknownDeviation). So the first stage of a kind is
// expected by those of the other kind, and after some of both each kind stands for itself. Over 22
// queries of TPC-H at four sizes the factor between the two is 1/21, over first runs of Spark
// around one.
#pragma once

#include <cstddef>

namespace tidemark::workflow {

class UnseenStages {
 public:
  // A stage that has been seen, and what a task of it takes: seconds > 0.
  void Add(bool fetches, double task_seconds);
  bool empty() const { return fetching_.count + reading_.count == 0; }
  // Mean of the log of the seconds of a task of one that has not. REQUIRES: !empty(). O(1).
  double LogSecondsOf(bool fetches) const;

 private:
  struct Seen {
    double count = 0;
    double log_sum = 0;
  };
  Seen fetching_;
  Seen reading_;
};

}  // namespace tidemark::workflow
