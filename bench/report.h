// What the benchmarks that compare us with a peer have in common: processor time, medians, and a
// report that names the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace tidemark::bench {

// Processor time of this thread in nanoseconds. Other processes can slow it down only by what they
// push out of the caches.
double ThreadNanos();

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

// Reads --json FILE, --repetitions N (at least 5) and --scale X; says on stderr what is wrong with
// others.
std::optional<Options> ParseOptions(int argc, char** argv);

// Processor, number of cores, compiler, load of the machine now.
nlohmann::json Context(const Options& options);

// Prints the report, and writes it where the options say; false if that failed.
bool Publish(const Options& options, const nlohmann::json& report);

}  // namespace tidemark::bench
