// Earlier runs of an application of stages as they would have been, had its program been told what
// it is told now ([GB]): what a run with other parameters starts from.
//
// Linear functions of the parameters, chosen by cross-validation over the earlier runs
// (regression/linear_model.h), say for stages of each work how many tasks they have, how much
// these read of each byte of input (the white box), what a task takes, from the parameters, the
// bytes that it reads and the slots (the black box), and how often the work is repeated. Every
// earlier run is multiplied by what they say of now over what they say of then, so that in all
// else, such as slots and data, it remains the run that it was; how far the runs then lie apart is
// taken as that of any earlier runs.
//
// Pure, deterministic.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/parameters.h"
#include "tidemark/stage_profile.h"

namespace tidemark::workflow {

// Through fewer runs there is no line.
inline constexpr std::size_t kForetellFrom = 3;

struct ForetoldRuns {
  // The one whose parameters were nearest first, with its stages repeated as often as they will
  // be, then the others, the newest first. Empty: earlier runs are to be taken as they are.
  std::vector<RunProfile> runs;
  // Of the log of what tasks take, common to all stages of a work; by WorkKey() (match_stages.h).
  // Works that no parameter moves are not there.
  std::map<std::string, double> deviations;
  // Of the log of the whole, since it is not sure how often stages repeat.
  double repeats_deviation = 0;
  // For people, without a full stop; empty: what is asked is within what earlier runs were told.
  std::string remark;
};

// `history`: earlier runs, the newest first; those whose parameters are not known tell nothing.
// Nothing is foretold where no parameters are asked about, fewer than kForetellFrom runs are left,
// all were told the same as now, or works and features are so many that learning takes too long.
// Cost: O(runs x (works x features^2 + task times)).
ForetoldRuns Foretell(std::span<const RunProfile* const> history,
                      const gray_box::Parameters& asked);

// Notes at stages, as ExpectStages() leaves them, how unsure it is what their tasks take.
void NoteDeviations(const ForetoldRuns& foretold, std::vector<StageNow>& stages);

}  // namespace tidemark::workflow
