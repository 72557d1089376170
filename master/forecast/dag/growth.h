// Work of an application that its engine has not told of yet.
//
// A driver submits one job after the other, and nothing says how many are still to come. What there
// is to go by is how the application has gone on so far: one that has submitted several jobs and
// repeats itself goes on, one that does something new after many repetitions is likely near its
// end. How long it goes on scales with how long it has run: of times without a scale of their own,
// what is left exceeds t with probability elapsed / (elapsed + t).
#pragma once

#include <cstddef>

#include "master/forecast/durations/fixed_draws.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::workflow {

// The jobs of an application so far.
struct Submissions {
  std::size_t count = 1;
  std::size_t kinds = 1;            // those that do something else
  bool is_newest_repeated = false;  // the newest does what an earlier one did
};

// That another job will be submitted. 0..1
double ChanceOfMore(const Submissions& submissions);

// By draw, seconds of work in jobs that have not been submitted. `elapsed`: seconds since the
// application began.
cost::Draws GrowthOf(const Submissions& submissions, double elapsed, const cost::FixedDraws& draws);

}  // namespace tidemark::workflow
