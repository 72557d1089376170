#include "bench/report.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace tidemark::bench {
namespace {

constexpr int kRepetitionsMin = 5;

std::string Processor() {
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

double Load() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : -1;
}

}  // namespace

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

nlohmann::json Series::ToJson() const {
  const auto [least, most] = std::minmax_element(values_.begin(), values_.end());
  return {{"median", median()}, {"min", *least}, {"max", *most}, {"runs", values_.size()}};
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  CLI::App app("Beside a peer that does the same.");
  app.add_option("--json", options.json_path, "Write the figures to this file");
  app.add_option("--repetitions", options.repetitions, "Of each measurement")
      ->check(CLI::Range(kRepetitionsMin, 1000));
  app.add_option("--scale", options.scale, "Of the amount of work; figures are stated for 1")
      ->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

nlohmann::json Context(const Options& options) {
  return {{"processor", Processor()},
          {"cores", std::thread::hardware_concurrency()},
          {"compiler", "g++ " __VERSION__},
          {"load_1min", Load()},
          {"repetitions", options.repetitions},
          {"scale", options.scale},
          {"clock", "processor time of the thread"}};
}

}  // namespace tidemark::bench
