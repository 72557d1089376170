// What parameters of a program make of the stages of one work, as earlier runs show it: of how many
// tasks they are, how much these read of each byte of input, and what one of them takes.
//
// Three lines through the runs (positive_line.h), each of which multiplies what a run had. What a
// task takes follows from the bytes that it reads and the slots, too. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "master/forecast/dag/positive_line.h"
#include "regression/linear_model.h"
#include "tidemark/stage_profile.h"

namespace tidemark::workflow {

// Of all stages of one work in one run, their means.
struct WorkSeen {
  double stages = 0;
  double tasks = 0;
  double read_bytes = 0;
  double task_seconds = 0;
  double bytes_of_task() const { return tasks > 0 ? read_bytes / tasks : 0; }
};

// An earlier run, whose profile outlives it.
struct SeenRun {
  const RunProfile* profile = nullptr;
  std::vector<double> values;             // of the parameters
  double input_bytes = 0;                 // of all stages that read no other's output
  std::map<std::string, WorkSeen> works;  // by WorkKey() (match_stages.h)
};

// O(stages log stages + task times)
SeenRun SeenIn(const RunProfile& run, std::vector<double> values);

// By what a run is to be multiplied.
struct Multiplied {
  double tasks = 1;
  double read_bytes = 1;
  double task_seconds = 1;
};

class WorkModel {
 public:
  // `names`: of the parameters. Runs without the work tell nothing. Cost: O(features^2 x runs).
  WorkModel(const std::string& work, const std::vector<std::string>& names,
            const std::vector<SeenRun>& runs);

  // `input`: what the input of the run is multiplied by.
  Multiplied Now(const SeenRun& run, const std::vector<double>& asked, double input) const;
  // How many tasks a stage has, where a parameter moves that.
  std::optional<gray_box::Forecast> Tasks(const std::vector<double>& asked) const;
  // Of what a task takes in a run like that; no value: nothing is known of it.
  std::optional<gray_box::Forecast> Times(const SeenRun& run, const std::vector<double>& asked,
                                          double input) const;

 private:
  std::vector<double> ForTimes(std::vector<double> values, double bytes, const SeenRun& run) const;
  std::vector<double> TimesAsked(const SeenRun& run, const WorkSeen& seen, const Multiplied& by,
                                 const std::vector<double>& asked) const;

  std::string work_;
  bool has_bytes_ = false;  // in all runs, and not always the same
  PositiveLine tasks_;
  PositiveLine shares_;  // read of each byte of input
  PositiveLine seconds_;
};

}  // namespace tidemark::workflow
