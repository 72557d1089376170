#include "bench/report.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string_view>
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

double ThreadNanos() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

nlohmann::json Series::ToJson() const {
  const auto [least, most] = std::minmax_element(values_.begin(), values_.end());
  return {{"median", median()}, {"min", *least}, {"max", *most}, {"runs", values_.size()}};
}

std::optional<Options> ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--json") options.json_path = value;
    if (name == "--repetitions") options.repetitions = std::atoi(value);
    if (name == "--scale") options.scale = std::atof(value);
    const bool known = name == "--json" || name == "--repetitions" || name == "--scale";
    if (!known || *value == 0 || options.repetitions < kRepetitionsMin || !(options.scale > 0)) {
      std::cerr << "usage: " << argv[0] << " [--json FILE] [--repetitions N>=5] [--scale X>0]\n";
      return std::nullopt;
    }
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

bool Publish(const Options& options, const nlohmann::json& report) {
  std::cout << report.dump(2) << std::endl;
  if (options.json_path.empty()) return true;
  std::ofstream file(options.json_path);
  file << report.dump(2) << "\n";
  if (file.flush()) return true;
  std::cerr << "cannot write " << options.json_path << "\n";
  return false;
}

}  // namespace tidemark::bench
