// Evaluates all indicators on all cases of a suite.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/accuracy/metrics.h"
#include "bench/workflow/cases.h"

namespace tidemark::bench {

// Means within each group, then over groups. Errors of the end are shares of the run's duration;
// errors of progress are percentage points.
struct Verdict {
  int cases = 0;
  std::optional<double> makespan_err_mean;  // before the start: |predicted - true| / true
  std::optional<double> makespan_err_p90;
  std::optional<double> avg_err;  // live, like the members below
  std::optional<double> max_err;
  std::optional<double> end_err;           // mean of |end - true end| / duration over the updates
  std::optional<double> remaining_err_10;  // |end - true end| / duration at 10 % of the run
  std::optional<double> remaining_err_25;
  std::optional<double> remaining_err_50;
  std::optional<double> remaining_err_75;
  std::optional<double> remaining_err_90;
  std::optional<double> coverage90;
  std::optional<double> even_coverage;  // share of live runs with a coverage of at least 0.75
  std::optional<double> width90;        // defined in bench/accuracy/metrics.h
  std::optional<double> backward_shown;
};

struct Row {
  std::string indicator;
  Verdict all;
  Verdict held_out;  // over the half that was not used for choosing constants
};

struct Judged {
  std::string suite;
  std::vector<Row> rows;
};

struct JudgeOptions {
  int updates = 40;  // per live run
  std::vector<std::string> indicators;
};

// Returns in how many suites an indicator is more than 0.5 points (of progress live, of the
// duration before the start) behind the best other, without the oracle.
int SuitesBehind(const std::vector<Judged>& suites, const std::string& indicator,
                 Verdict Row::*half);

// The predictions during a run in order, and its end. Seconds since its start.
struct WatchedRun {
  std::vector<Prediction> predictions;
  std::vector<Prediction> shown;  // the ends that would make the shown fractions exact
  double end = 0;
};
// All runs have equal weight.
Verdict VerdictOf(const std::vector<WatchedRun>& runs);

// The indicator "oracle" is tidemark with the run itself as its only past run. Its errors come from
// the form of the model, which assumes that runs differ.
Judged Judge(const Suite& suite, const JudgeOptions& options);

}  // namespace tidemark::bench
