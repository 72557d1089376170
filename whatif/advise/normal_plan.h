// Converts plans to a normal form in which equal work is equal, regardless of the program and of
// the engine's execution.
//
// The form omits operators that only move records (exchanges, code generation, adaptive stages) and
// the lower half of an aggregation. All kinds of joins are alike. The engine's new numbers of
// columns are replaced by the origins of the columns. The form keeps operators, expressions with
// their constants, and tables.
//
// Pure, deterministic. Cost: O(text).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/advise/past_plan.h"

namespace tidemark::advise {

struct NormalOperator {
  std::string kind;                 // such as "Aggregate", or the table of a source
  std::string text;                 // readable: without the numbers of columns
  std::vector<std::size_t> inputs;  // indexes below its own
  std::uint64_t signature = 0;      // hash of the operator and all its inputs
  std::size_t ran = 0;              // index in PastPlan.operators
  std::optional<double> records;    // output records
  double columns = 0;               // upper limit; 0 if unknown
  bool is_source = false;
  // The reason why its output cannot be kept, such as randomness or a limit above it. Empty if its
  // output can be kept.
  std::string bar;
  // Points to check before others use it: cut text, functions of the program.
  std::vector<std::string> doubts;
};

// InvalidArgument for an unknown input, a cycle, or more than kOperatorsMax operators.
absl::StatusOr<std::vector<NormalOperator>> NormalPlan(const PastPlan& plan);

// Returns true if the operator moves records without changing them.
bool OnlyMoves(const PastOperator& op);
// Returns true if the operator passes records to another stage.
bool IsExchange(const PastOperator& op);
// Returns true if the operator runs functions of the program, or has an unknown cost.
bool HasOwnCode(const PastOperator& op);

}  // namespace tidemark::advise
