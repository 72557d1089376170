// Evaluates all indicators on all cases of a suite.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/accuracy/lateness.h"
#include "bench/accuracy/metrics.h"
#include "bench/workflow/cases.h"

namespace tidemark::bench {

// Means within each group, averaged over groups. Errors of the end are shares of the run's
// duration. Errors of progress are in percentage points.
struct Verdict {
  int cases = 0;
  std::optional<double> makespan_err_mean;  // before the start: |predicted - true| / true
  std::optional<double> makespan_err_p90;
  std::optional<double> avg_err;    // measured live, like the members below
  std::optional<double> shown_err;  // as avg_err, of shown progress
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
  std::optional<double> ratio50;        // median over the live runs
  std::optional<double> backward_shown;
  Lateness late;  // summed over the live runs
  // Mean errors over the queries of applications without past runs, in points: of the shown
  // progress, and of the share of finished tasks.
  int queries = 0;
  std::optional<double> query_err;
  std::optional<double> query_tasks_err;
  int queries_behind = 0;  // queries whose shown progress is worse by more than 0.5 points
};

struct Row {
  std::string indicator;
  Verdict all;
  Verdict held_out;  // values for the half that was not used to choose constants
};

struct Judged {
  std::string suite;
  std::vector<Row> rows;
};

struct JudgeOptions {
  int updates = 40;  // number of updates of each live run
  std::vector<std::string> indicators;
  // Receives the predictions of each live run; may be empty.
  std::function<void(const std::string& suite, const std::string& indicator, const Trace& run,
                     std::span<const Prediction> predictions)>
      on_run;
};

// Returns the number of suites in which an indicator is more than 0.5 points behind the best other
// indicator except the oracle. For live runs, points refer to progress, and otherwise to the
// duration.
int SuitesBehind(const std::vector<Judged>& suites, const std::string& indicator,
                 Verdict Row::*half);

// The predictions during a run, in order, and the end of the run. All times are in seconds since
// its start.
struct WatchedRun {
  std::vector<Prediction> predictions;
  double end = 0;
};
// Returns the verdict of these runs, which have equal weight.
Verdict VerdictOf(const std::vector<WatchedRun>& runs);

// Evaluates the indicators on a suite. "oracle" is tidemark with the run itself as its only past
// run. The oracle has errors because the model assumes that runs differ.
Judged Judge(const Suite& suite, const JudgeOptions& options);

}  // namespace tidemark::bench
