// The comparable plans of a history, by time.
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
#include "whatif/advise/past_plan.h"
#include "whatif/gray_box/materialization.h"

namespace tidemark::advise {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct ComparedPlan {
  const PastPlan* ran = nullptr;
  std::vector<NormalOperator> operators;
  std::vector<std::size_t> reader_of;  // by index in `ran`: the last reader, or kNone
};

struct History {
  std::vector<ComparedPlan> plans;  // by start time
  gray_box::ReuseChain chain;
  std::size_t applications = 0;
  double seconds = 0;                // from the first start to the last
  std::vector<std::string> remarks;  // about excluded plans
};

// InvalidArgument if no plan is comparable. The result refers to `plans`.
absl::StatusOr<History> Compared(const std::vector<PastPlan>& plans);

// Returns true if the value is known, finite and not negative.
bool IsAmount(const std::optional<double>& value);

// Returns for each operator up to `op` whether it is `op` or an input of it, directly or not.
std::vector<bool> PrefixOf(const ComparedPlan& plan, std::size_t op);

// Returns a hash of the data that a prefix with `records` output records has in its sources, as far
// as the log shows. 0 if unknown.
std::uint64_t DataOf(const ComparedPlan& plan, const std::vector<bool>& prefix,
                     const std::optional<double>& records);

// Returns the largest width of a record of `op`: from an exchange above it, or from its columns,
// each as wide as the columns of the widest source. Returns nullopt if it is unknown.
std::optional<double> WidthOf(const ComparedPlan& plan, std::size_t op,
                              const std::vector<bool>& prefix);

}  // namespace tidemark::advise
