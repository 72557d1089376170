// The methods of the papers, for comparison with Tidemark.
//
// A method runs only on request, and Tidemark's own forecast uses none of them. Methods for a DAG
// of stages are in bench/workflow/dag_methods.h. docs/internals/references.md has the titles of the
// papers.
//
// Pure functions and values without a clock; deterministic. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "master/forecast/progress_indicator.h"

namespace tidemark::papers {

// Returns the names of the methods for the reduce phase of one job:
//   nearestfit      neighbours and curves through the times of key groups ([NF] 3 to 5)
//   hadoop          elapsed time over the mean share of the bytes that tasks have read ([NF] 7.1)
//   jobratio        remaining bytes x seconds per byte of the job ([NF] eq. 13, 14)
//   taskratio       remaining bytes x seconds per byte of each task ([NF] eq. 15, 16)
//   jobratio-ewma, taskratio-ewma   jobratio and taskratio, smoothed over time
//   fit             nearestfit with curves only ([NF] 8.6)
std::vector<std::string> JobMethods();
// Creates the method, or returns null for an unknown name.
std::unique_ptr<forecast::ProgressIndicator> MakeJobMethod(const std::string& name);

}  // namespace tidemark::papers
