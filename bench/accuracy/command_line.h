// The command line of the benchmark.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/accuracy/data_sets.h"
#include "bench/accuracy/replay.h"

namespace tidemark::bench {

struct Arguments {
  std::vector<std::string> suites;
  std::vector<std::string> rows;  // substrings of row names; empty: all rows
  // A job on any data, instead of suites.
  std::string job;
  std::vector<std::string> inputs;
  std::map<std::string, std::string> parameters;
  std::string scenario;
  std::string log;  // an event log, instead of both
  // Replaces the values of the rows.
  std::optional<std::uint32_t> workers;
  std::optional<std::uint32_t> waves;
  ReplayOptions replay;
  DataPlaces places;
  std::string json_path;
  std::string curves_path;
};

// Returns the arguments, or an exit code after --help or an error message.
struct Parsed {
  std::optional<Arguments> arguments;
  int exit_code = 0;
};
Parsed ParseCommandLine(int argc, char** argv);

}  // namespace tidemark::bench
