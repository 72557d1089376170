// Executions of plans as an engine reports them: the operators, and the stages that ran them.
//
// Plain values, which NormalPlan() checks. Times are in seconds, sizes in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::advise {

// A number that is only known to lie between bounds.
struct Bounds {
  double lower = 0;
  double expected = 0;
  double upper = 0;

  Bounds& operator+=(const Bounds& other) {
    lower += other.lower;
    expected += other.expected;
    upper += other.upper;
    return *this;
  }
  Bounds& operator-=(const Bounds& other) { return *this += other * -1; }
  // Subtracts a known amount, such as the time of reading.
  friend Bounds operator-(const Bounds& bounds, double certain) {
    return {bounds.lower - certain, bounds.expected - certain, bounds.upper - certain};
  }
  // The bounds stay in order for either sign of `factor`.
  friend Bounds operator*(const Bounds& bounds, double factor) {
    return {bounds.lower * factor, bounds.expected * factor, bounds.upper * factor};
  }
};

// An operator as the engine ran it.
struct PastOperator {
  std::string name;                   // such as "HashAggregate"
  std::string text;                   // operation and columns, as the engine prints them
  std::string table;                  // table that a source reads; empty if unknown
  std::vector<std::size_t> inputs;    // indexes of the inputs
  std::vector<std::uint32_t> stages;  // stages that produced the output; empty if unknown
  std::optional<double> records;      // output records
  std::optional<double> bytes;        // size of a source's files or an exchange's records
  bool is_cut = false;                // whether the engine cut the text
};

struct PastPlanStage {
  double begin = 0;  // wall-clock time in seconds
  double end = 0;
  double task_seconds = 0;           // sum over all tasks
  double shuffle_write_seconds = 0;  // part of the task time for writing a shuffle
  double read_bytes = 0;             // bytes read from files
  // Seconds of the stage's first tasks on executors that had run nothing before. Any other first
  // stage would also need this time.
  Bounds start_up;
};

struct PastPlan {
  std::string application;  // id of one run
  std::string program;      // name, the same in every run
  std::string execution;    // such as "sql/3"
  std::string line;         // line of the program that requested the execution
  double begin = 0;         // wall-clock time in seconds
  std::vector<PastOperator> operators;
  std::map<std::uint32_t, PastPlanStage> stages;
  // True for a lineage of RDDs, whose operations are known only by lines of the program.
  bool is_lineage = false;
  // True if the run has further plans that failed, did not end, or are missing from its log.
  bool is_of_partial_run = false;
};

// Limits of one plan and of a history. Larger plans are omitted with a remark.
inline constexpr std::size_t kOperatorsMax = 5'000;
inline constexpr std::size_t kHistoryOperatorsMax = 200'000;

// Converts plans to a normal form in which equal work is equal, regardless of the program and of
// the engine's execution.
//
// The form omits operators that only move records (exchanges, code generation, adaptive stages) and
// the lower half of an aggregation. All kinds of joins are equal. The engine's column numbers,
// which differ in every run, are replaced by the origins of the columns. The form keeps operators,
// expressions with their constants, and tables.
//
// Pure and deterministic. O(text).
struct NormalOperator {
  std::string kind;                 // such as "Aggregate", or the table of a source
  std::string text;                 // readable text without column numbers
  std::vector<std::size_t> inputs;  // indexes of its inputs, below its own index
  std::uint64_t signature = 0;      // hash of the operator and all its inputs
  std::size_t ran = 0;              // index in PastPlan.operators
  std::optional<double> records;    // output records
  double columns = 0;               // upper limit; 0 if unknown
  bool is_source = false;
  // Why the output cannot be kept, such as randomness or a limit above it. Empty if the output can
  // be kept.
  std::string bar;
  // Issues to check before other programs use the output, such as truncated plan text
  // or user-defined functions.
  std::vector<std::string> doubts;
};

// Fails with InvalidArgument for an unknown input, a cycle, or more than kOperatorsMax operators.
absl::StatusOr<std::vector<NormalOperator>> NormalPlan(const PastPlan& plan);

// Returns true if the operator moves records without changing them.
bool OnlyMoves(const PastOperator& op);
// Returns true if the operator passes records to another stage.
bool IsExchange(const PastOperator& op);
// Returns true if the operator runs functions of the program, or has an unknown cost.
bool HasOwnCode(const PastOperator& op);

}  // namespace tidemark::advise
