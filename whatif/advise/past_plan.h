// Executions of plans as an engine reports them: their operators, and the stages that ran these.
//
// Plain values, which NormalPlan() checks. Seconds and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::advise {

// A number that is known between bounds.
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
  // Bounds keep their names for either sign of `factor`.
  friend Bounds operator*(const Bounds& bounds, double factor) {
    return {bounds.lower * factor, bounds.expected * factor, bounds.upper * factor};
  }
};

// An operator as the engine ran it.
struct PastOperator {
  std::string name;                   // such as "HashAggregate"
  std::string text;                   // its operation and columns, as the engine prints them
  std::string table;                  // table of a source; empty if unknown
  std::vector<std::size_t> inputs;    // indexes
  std::vector<std::uint32_t> stages;  // stages that produced its output; empty if unknown
  std::optional<double> records;      // output records
  std::optional<double> bytes;        // size of a source's files or an exchange's records
  bool is_cut = false;                // the engine cut its text
};

struct PastPlanStage {
  double begin = 0;  // seconds of the clock
  double end = 0;
  double task_seconds = 0;           // sum over all tasks
  double shuffle_write_seconds = 0;  // the part for writing a shuffle
  double read_bytes = 0;             // from files
  // Seconds of its first tasks on executors that had run nothing before. Any other first stage
  // would also need them.
  Bounds start_up;
};

struct PastPlan {
  std::string application;  // the id of one run
  std::string program;      // the name, the same in every run
  std::string execution;    // such as "sql/3"
  std::string line;         // the line of the program that requested it
  double begin = 0;         // seconds of the clock
  std::vector<PastOperator> operators;
  std::map<std::uint32_t, PastPlanStage> stages;
  // True for a lineage of RDDs, whose operations are known by lines of the program only.
  bool is_lineage = false;
  // True if the run has further plans that failed, did not end, or are missing from its log.
  bool is_of_partial_run = false;
};

// Limits of one plan and of a history. Larger plans are left out, with a remark.
inline constexpr std::size_t kOperatorsMax = 5'000;
inline constexpr std::size_t kHistoryOperatorsMax = 200'000;

}  // namespace tidemark::advise
