// What an estimate rests on, as messages to others have it.
#pragma once

#include <string_view>

#include "tidemark/job.h"

namespace tidemark::cli {

// Empty: nothing is estimated, or by what is not known.
constexpr std::string_view NameOf(Basis basis) {
  switch (basis) {
    case Basis::kGuess:
      return "guess";
    case Basis::kEarlierRuns:
      return "earlier_runs";
    case Basis::kThisRun:
      return "this_run";
    case Basis::kUnknown:
    case Basis::kDone:
      break;
  }
  return "";
}

}  // namespace tidemark::cli
