// What there is to say about a snapshot, in words; frames, plain lines and tables share it. Pure.
//
// Everything here is Printable(), finite and without negative times, whatever the snapshot holds.
#pragma once

#include <string>
#include <vector>

#include "cli/console/duration_text.h"
#include "cli/console/styled_line.h"
#include "tidemark/snapshot.h"

namespace tidemark::console {

// The name of the job, or its id if it has none.
std::string JobTitle(const Snapshot& snapshot, const TextOptions& options);

// "running", "succeeded", "failed", "killed", "abandoned".
std::string StateName(JobState state);
Style StateStyle(JobState state);

// "41 %"; "-" while the indicator warms up and has never said anything.
std::string PercentText(const Snapshot& snapshot, const Forecast& forecast);

// "~ 41 s".
std::string AboutText(absl::Duration duration, const TextOptions& options);

// When something will end, in two parts that can be put apart, such as "~ 41 s left" and "(35-52
// s)", or "no estimate yet" and "waiting for the first reduce results".
struct RemainingWords {
  std::string about;
  std::string joint;
  std::string detail;
  std::string text() const { return about + joint + detail; }
};
RemainingWords KnownWords(const KnownRemaining& known, const TextOptions& options);
// Of an ended job its state.
RemainingWords DescribeRemaining(const Snapshot& snapshot, const Forecast& forecast,
                                 const TextOptions& options);

// The phase that is running or, between two of them, the next one; null if there is none.
const PhaseProgress* CurrentPhase(const Snapshot& snapshot);
// "map done", "map 37 %", "reduce 1/4 tasks", "reduce".
std::string PhaseText(const PhaseProgress& phase);

// "Reduce task 2 ends last: 1.2 MB key, ..."; empty if there is no straggler.
std::string StragglerText(const Snapshot& snapshot, const TextOptions& options);

// What is lost, silent or out of date; a line each, none if all is well.
std::vector<std::string> CoverageTexts(const Snapshot& snapshot, const TextOptions& options);

}  // namespace tidemark::console
