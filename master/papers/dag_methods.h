// The methods for a DAG of stages; papers.h says what each does.
#pragma once

#include "master/papers/papers.h"

namespace tidemark::papers {

DagForecast TasksDone(const DagNow& now);
DagForecast StageWeighted(const DagNow& now);
DagForecast CriticalPath(const DagNow& now);
DagForecast MeanTimesWaves(const DagNow& now);
DagForecast Algorithm1Median(const DagNow& now);
DagForecast Algorithm1Mean(const DagNow& now);
DagForecast Algorithm1Fluid(const DagNow& now);
DagForecast Algorithm2Normal(const DagNow& now);
DagForecast Algorithm2Empirical(const DagNow& now);

}  // namespace tidemark::papers
