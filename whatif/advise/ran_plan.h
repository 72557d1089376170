// What an engine says of one execution of a plan: its operators, and the stages that ran them.
//
// Plain values. Nothing is believed of them: see NormalPlan(). Seconds and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "whatif/advise/range.h"

namespace tidemark::advise {

// An operator as the engine ran it.
struct RanOperator {
  std::string name;                   // such as "HashAggregate"
  std::string text;                   // what it does to which columns, as the engine prints it
  std::string table;                  // of a source: what it reads; empty: not told
  std::vector<std::size_t> inputs;    // indexes
  std::vector<std::uint32_t> stages;  // that made its output; none: not told
  std::optional<double> records;      // that came out
  std::optional<double> bytes;        // of a source: in its files; of an exchange: of its records
  bool is_cut = false;                // its text is not whole
};

struct StageRun {
  double begin = 0;  // seconds of the clock
  double end = 0;
  double task_seconds = 0;           // of all tasks
  double shuffle_write_seconds = 0;  // of these
  double read_bytes = 0;             // from files
  // Seconds of its first tasks on executors that had run nothing before: what any other stage would
  // take there in its place.
  Range start_up;
};

struct RanPlan {
  std::string application;  // its id, of one run
  std::string program;      // its name, the same in every run
  std::string execution;    // such as "sql/3"
  std::string line;         // of the program, that asked for it
  double begin = 0;         // seconds of the clock
  std::vector<RanOperator> operators;
  std::map<std::uint32_t, StageRun> stages;
  bool is_lineage = false;  // of RDDs: known by lines of the program and not by what these do
};

// Of one plan, and of all of a history; more are left out and said to be.
inline constexpr std::size_t kOperatorsMax = 5'000;
inline constexpr std::size_t kHistoryOperatorsMax = 200'000;

}  // namespace tidemark::advise
