// What the user of the benchmark asked for.
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
  std::vector<std::string> rows;  // parts of their names; all without any
  // A job on any data, in place of suites.
  std::string job;
  std::vector<std::string> inputs;
  std::map<std::string, std::string> parameters;
  std::string scenario;
  std::string log;  // an event log, in place of both
  // In place of what the rows say.
  std::optional<std::uint32_t> workers;
  std::optional<std::uint32_t> waves;
  ReplayOptions replay;
  DataPlaces places;
  std::string json_path;
  std::string curves_path;
};

// Either the arguments, or the exit code of a program that has said all there is to say.
struct Parsed {
  std::optional<Arguments> arguments;
  int exit_code = 0;
};
Parsed ParseCommandLine(int argc, char** argv);

}  // namespace tidemark::bench
