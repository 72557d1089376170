// Plans in a form in which the same work looks the same, whoever asked for it and however the
// engine chose to do it.
//
// Left out is what only moves records (exchanges, code generation, adaptive stages) and the lower
// half of an aggregation; joins are joins, whichever way. Of columns, what the engine numbers anew
// in every plan is replaced by where a column comes from. What stays are operators, expressions
// with their constants, and tables.
//
// Pure, deterministic. Cost: O(text).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/advise/ran_plan.h"

namespace tidemark::advise {

struct NormalOperator {
  std::string kind;                 // such as "Aggregate", or the table of a source
  std::string text;                 // for people: without the numbers of columns
  std::vector<std::size_t> inputs;  // indexes, all before its own
  std::uint64_t signature = 0;      // of it and all below: equal where these are
  std::size_t ran = 0;              // index in RanPlan.operators
  std::optional<double> records;    // that came out
  double columns = 0;               // at most so many; 0: not known
  bool is_source = false;
  // Why its output can not be kept for others, whatever it would save: such as chance in it, or a
  // limit above it. Empty: it can.
  std::string bar;
  // What is to be looked at before others use it: text that was cut, functions of the program.
  std::vector<std::string> doubts;
};

// InvalidArgument: an unknown input, operators that read each other in a cycle, more than
// kOperatorsMax.
absl::StatusOr<std::vector<NormalOperator>> NormalPlan(const RanPlan& plan);

// Whether an operator of the engine moves records and makes no others of them.
bool OnlyMoves(const RanOperator& op);
// Whether it hands records to another stage.
bool IsExchange(const RanOperator& op);
// Whether it runs functions of the program, or of unknown cost.
bool HasOwnCode(const RanOperator& op);

}  // namespace tidemark::advise
