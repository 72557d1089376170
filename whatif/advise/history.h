// Plans of a history that can be compared, by time.
//
// Pure values and functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/advise/normal_plan.h"
#include "whatif/advise/ran_plan.h"
#include "whatif/gray_box/materialization.h"

namespace tidemark::advise {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct ComparedPlan {
  const RanPlan* ran = nullptr;
  std::vector<NormalOperator> operators;
  std::vector<std::size_t> reader_of;  // of what ran: the last that reads it, or kNone
};

struct History {
  std::vector<ComparedPlan> plans;  // by when they began
  gray_box::ReuseChain chain;
  std::size_t applications = 0;
  double seconds = 0;                // from the first to the last
  std::vector<std::string> remarks;  // on what is left out
};

// InvalidArgument: none can be compared. The result refers to `plans`.
absl::StatusOr<History> Compared(const std::vector<RanPlan>& plans);

// Whether it is there and can be: finite and not negative.
bool IsAmount(const std::optional<double>& value);

// Of operators up to `op`: whether it is that, or below it.
std::vector<bool> PrefixOf(const ComparedPlan& plan, std::size_t op);

// Of a prefix of which `records` come out: which data its sources held, as far as the log tells. 0:
// nothing is told.
std::uint64_t DataOf(const ComparedPlan& plan, const std::vector<bool>& prefix,
                     const std::optional<double>& records);

// A record of `op` is at most so wide: as an exchange above it says, or by its columns, each as
// wide as those of the widest source. Empty: not told.
std::optional<double> WidthOf(const ComparedPlan& plan, std::size_t op,
                              const std::vector<bool>& prefix);

}  // namespace tidemark::advise
