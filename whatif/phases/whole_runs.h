// What the settings of several runs of a program say of how long another takes as a whole, without
// any model of its stages.
//
// The log of the time is a linear function of the settings (levels.h, correction.h). It is asked
// only near what was seen: beyond what was seen of a setting by no more than what was seen of it.
// Beside it stands what stages make up; the two are averaged, each weighted by how sure it is of
// itself. Why: docs/adr/0063-settings-alone-beside-the-models.md.
//
// Pure, deterministic, thread-safe when const. Cost: that of Correction, for a time of each run.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/phases/correction.h"

namespace tidemark::phases {

struct WholeRun {
  std::vector<double> levels;  // of its settings; as many of each
  double seconds = 0;          // above 0
};

// What the settings of the runs alone say.
struct ExpectedWhole {
  double seconds = 0;
  double deviation = 0;  // of its log
};

class WholeRuns {
 public:
  // Of none before it has learnt.
  WholeRuns() = default;
  // Fewer than four tell nothing. `groups` and errors: as Correction::Learn().
  static absl::StatusOr<WholeRuns> Learn(std::span<const WholeRun> runs,
                                         std::span<const std::size_t> groups);

  // Empty: too few runs, or none of them near.
  std::optional<ExpectedWhole> At(const std::vector<double>& levels) const;

 private:
  double mean_log_seconds_ = 0;
  std::vector<Correction> of_settings_;  // one, or none: too few runs
  std::vector<std::vector<double>> seen_;
};

// How many names are in both.
std::size_t StagesInCommon(const std::vector<std::string>& one,
                           const std::vector<std::string>& other);
// By the names of their stages: half of those of the one that has fewer are in both.
bool IsOfOneProgram(const std::vector<std::string>& one, const std::vector<std::string>& other);

// Two forecasts that know different things, each weighted by how sure it is of itself.
struct Averaged {
  double factor = 1;     // on the seconds of the first
  double deviation = 0;  // of the log; how far the two are apart is part of what is not known
};
// Of one with its `seconds` and the deviation of their log, and of the whole. Empty: the first is
// of no time, or neither is unsure.
std::optional<Averaged> Average(double seconds, double deviation, const ExpectedWhole& whole);

}  // namespace tidemark::phases
