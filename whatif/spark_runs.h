// Several runs of an application of Spark, learnt from together: what if it ran with other
// settings, other numbers of partitions or more data?
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/phases/many_runs.h"
#include "whatif/spark_parameters.h"
#include "whatif/spark_plan.h"

namespace tidemark::cli {

class SparkRuns {
 public:
  // The first is the one that questions are about. A run that is there already, IsSameRun(), is
  // counted once; one that has no stage of the first is of another program, and left out. Errors
  // name the run, by its place in `paths`: settings that it does not tell, and NothingToLearn().
  static absl::StatusOr<SparkRuns> Learn(std::vector<SparkRun> runs,
                                         const std::vector<std::string>& paths);

  // `parameters` of the program; those that are not there are as in the first run. Errors: those of
  // SettingsOf() and SparkParameters::Check().
  absl::StatusOr<OtherRun> With(const std::map<std::string, std::string>& changes,
                                double data_factor, const gray_box::Parameters& parameters) const;
  const SparkRun& first() const { return runs_[0]; }

 private:
  SparkRuns(std::vector<SparkRun> runs, phases::ManyRuns models, SparkParameters parameters)
      : runs_(std::move(runs)), models_(std::move(models)), parameters_(std::move(parameters)) {}

  std::vector<SparkRun> runs_;
  phases::ManyRuns models_;
  SparkParameters parameters_;
  std::vector<std::string> remarks_;  // on runs that are left out, or hardly like the first
};

}  // namespace tidemark::cli
