// What the benchmarks that compare us with a peer have in common: medians, and a report that names
// the machine. Times are of bench/accuracy/thread_clock.h.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace tidemark::bench {

// Of at least one value.
double Median(std::vector<double> values);

// One thing measured again and again: median, least and most.
class Series {
 public:
  void Add(double value) { values_.push_back(value); }
  double median() const { return Median(values_); }
  nlohmann::json ToJson() const;

 private:
  std::vector<double> values_;
};

struct Options {
  std::string json_path;  // empty: none
  int repetitions = 5;
  double scale = 1;  // of the amount of work; figures are stated for 1
};

// Reads --json FILE, --repetitions N (at least 5) and --scale X. Ends the process, as --help does,
// when something is wrong with them, and says what.
Options ParseOptions(int argc, char** argv);

// Processor, number of cores, compiler, load of the machine now.
nlohmann::json Context(const Options& options);

}  // namespace tidemark::bench
