// Asks all indicators about all cases of a suite and compares with what came.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/accuracy/metrics.h"
#include "bench/workflow/cases.h"

namespace tidemark::bench {

// Means within each group, then over groups. Errors of the end are shares of the run's duration,
// those of progress percentage points.
struct Verdict {
  int cases = 0;
  std::optional<double> makespan_err_mean;  // before the start: |predicted - true| / true
  std::optional<double> makespan_err_p90;
  std::optional<double> avg_err;  // live; likewise below
  std::optional<double> max_err;
  std::optional<double> end_err;           // mean of |end - true end| / duration over the updates
  std::optional<double> remaining_err_10;  // |end - true end| / duration when 10 % had gone
  std::optional<double> remaining_err_25;
  std::optional<double> remaining_err_50;
  std::optional<double> remaining_err_75;
  std::optional<double> remaining_err_90;
  std::optional<double> coverage90;
  std::optional<double> even_coverage;  // share of live runs with a coverage of at least 0.75
  std::optional<double> width90;        // as bench/accuracy/metrics.h has it
  std::optional<double> backward_shown;
};

struct Row {
  std::string indicator;
  Verdict all;
  Verdict held_out;  // of the half that no constant was chosen on
};

struct Judged {
  std::string suite;
  std::vector<Row> rows;
};

struct JudgeOptions {
  int updates = 40;  // of a live run
  std::vector<std::string> indicators;
};

// In how many suites an indicator is more than 0.5 points (of progress live, of the duration before
// the start) behind the best other; the oracle aside.
int SuitesBehind(const std::vector<Judged>& suites, const std::string& indicator,
                 Verdict Row::*half);

// What was said while a run was watched, in order, and what came. Seconds since it began.
struct WatchedRun {
  std::vector<Prediction> predictions;
  std::vector<Prediction> shown;  // the ends at which the shown fractions would have been right
  double end = 0;
};
// Each run counts as much as another.
Verdict VerdictOf(const std::vector<WatchedRun>& runs);

// The indicator "oracle" is tidemark with the run itself as its only earlier run: what is left is
// the form of the model, and that runs are taken to differ.
Judged Judge(const Suite& suite, const JudgeOptions& options);

}  // namespace tidemark::bench
