// The parameters of a program as features, and the white box of the gray-box model ([GB]). The
// white box describes how parameters change the output and the number of stages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "regression/linear_model.h"

namespace tidemark::durations {

// The parameters of a program as numbers.
//
// A parameter that has only numeric values is one feature with the parameter's name. Any other
// value is a comma-separated list of words. Its features are the number of words, and for each word
// whether it is present. For example, "letters=a,f,h" gives `letters.count`, `letters.a`,
// `letters.f` and `letters.h`. A constant parameter is also a feature, so that a different value
// can be recognised.
//
// [GB] 4.1 distinguishes parameters of conditions, of field selections and of the workflow. Here
// the distinction depends on whether a parameter affects the number of records, their width, or how
// often a stage runs.

using Parameters = std::map<std::string, std::string>;

// Limits the number of words of one parameter that become features. The most frequent words are
// used.
inline constexpr std::size_t kWordsMax = 64;

class Features {
 public:
  // Creates the features of the parameters of past runs.
  explicit Features(std::span<const Parameters> runs);

  const std::vector<std::string>& names() const { return names_; }
  // Returns the names of the parameters of past runs. A list of words counts as one parameter.
  std::vector<std::string> parameter_names() const;
  // Returns the values in the order of the names. A parameter that is missing, or that should be
  // numeric and is not, has its value in the last run.
  std::vector<double> ValuesOf(const Parameters& parameters) const;
  // Returns the parameters and words that no past run had, so that their influence is unknown.
  std::vector<std::string> Unknown(const Parameters& parameters) const;
  // Returns the parameters that are numeric in every past run but have no finite number here.
  std::vector<std::string> NonNumeric(const Parameters& parameters) const;

 private:
  struct Parameter {
    bool is_number = false;
    std::string last;                // value in the last run
    std::vector<std::string> words;  // words that are features
  };
  std::map<std::string, Parameter> parameters_;
  std::vector<std::string> names_;
};

// The white box ([GB] 4.1, 5.1): the output of every stage, and how often it runs, as functions of
// the parameters.
//
// Pure, deterministic, and thread-safe when const.

// The input and output of all tasks of a stage or an operator.
struct Cardinality {
  double records_in = 0;
  double bytes_in = 0;
  double records_out = 0;
  double bytes_out = 0;
};

struct CardinalityForecast {
  regression::Forecast records;  // number of output records
  regression::Forecast width;    // bytes per output record
};

// Models the number of output records per input record of one stage, and the relative width of a
// record. Ignores runs without input. Runs without output have no width.
class CardinalityModel {
 public:
  // Fits the model to one entry per run. Fails with InvalidArgument if the lengths differ or
  // amounts are negative or not finite. Fails with FailedPrecondition if no run had any input.
  static absl::StatusOr<CardinalityModel> Learn(std::span<const Parameters> parameters,
                                                std::span<const Cardinality> runs);

  // Predicts the output for the given input. The prediction is never negative.
  CardinalityForecast Predict(const Parameters& parameters, double records_in,
                              double width_in) const;
  // These functions return the features that change the number of records (conditions) and their
  // width (field selections).
  const std::vector<regression::Choice>& conditions() const { return records_.choices(); }
  const std::vector<regression::Choice>& field_selections() const { return width_.choices(); }

 private:
  CardinalityModel(Features features, regression::LinearModel records,
                   regression::LinearModel width)
      : features_(std::move(features)), records_(std::move(records)), width_(std::move(width)) {}
  Features features_;
  regression::LinearModel records_;
  regression::LinearModel width_;
};

// The number of stages of each kind of work (StageOpened.work) in one run. An iteration repeats
// stages in PageRank and jobs in K-Means; both appear as numbers of stages of the same work.
using StageCounts = std::map<std::uint64_t, std::uint32_t>;

// Models the number of stages, such as the number of iterations, as a function of the parameters.
class RepetitionModel {
 public:
  // Fits the model. A kind of work that is missing in a run ran 0 times. Fails like
  // CardinalityModel::Learn().
  static absl::StatusOr<RepetitionModel> Learn(std::span<const Parameters> parameters,
                                               std::span<const StageCounts> runs);

  // Predicts the number of stages of each kind of work as whole numbers of at least 0.
  std::map<std::uint64_t, regression::Forecast> Predict(const Parameters& parameters) const;
  // Returns the features that change the number of stages, for each kind of work whose number
  // varies.
  std::map<std::uint64_t, std::vector<regression::Choice>> workflow_controls() const;

 private:
  explicit RepetitionModel(Features features) : features_(std::move(features)) {}
  Features features_;
  std::map<std::uint64_t, regression::LinearModel> counts_;
};

// Repeats the stages of a known run more or less often. Iterations are stages in PageRank and jobs
// in K-Means ([GB] 4.1). Pure.

// Repeated() returns the stages unchanged if they or the added edges would exceed these limits.
inline constexpr std::size_t kRepeatedStagesMax = 10'000;
inline constexpr std::size_t kAddedEdgesMax = 100'000;

// A stage of the known run.
struct RepeatableStage {
  std::uint64_t work = 0;          // equal for stages of the same work; 0 if unknown
  std::vector<std::size_t> after;  // indexes of its parents
};

struct RepeatedStage {
  std::size_t like = 0;  // index in the known run of this stage, or of the stage that it repeats
  std::size_t turns_later = 0;     // 0 for a stage of the known run
  std::vector<std::size_t> after;  // indexes of the parents in the result
};

// Returns the stages, with each work repeated `counts` times. `ran` contains the stages in the
// order in which they ran. Stages of work 0 and of works not in `counts` are kept, and at least one
// stage of each work is kept. An added stage does the same as the last stage of its work, and waits
// for the successors of that stage's parents. The children of the last stage of a work wait for the
// new last stage. The result contains the known stages in order, then the added stages. O(stages +
// edges).
std::vector<RepeatedStage> Repeated(const std::vector<RepeatableStage>& ran,
                                    const std::map<std::uint64_t, std::uint32_t>& counts);

}  // namespace tidemark::durations
