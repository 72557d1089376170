// What the user asked for, out of the words of the command line.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "examples/local_mapreduce/run.h"
#include "tidemark/master.h"

namespace tidemark::cli {

inline constexpr const char* kDefaultMaster = "127.0.0.1:7411";

enum class ProgressMode : std::uint8_t { kAuto, kTty, kPlain, kJson, kQuiet };

struct ProgressArguments {
  ProgressMode mode = ProgressMode::kAuto;
  bool compare = false;
};

struct RunArguments {
  examples::RunOptions job;  // as far as the user decides; without output_dir nothing is kept
  ProgressArguments progress;
};

struct ServeArguments {
  MasterOptions master;
};

struct JobsArguments {
  std::string master;
  bool json = false;
};

struct WatchArguments {
  std::string job_id;
  std::string master;
  ProgressArguments progress;
};

struct ReplayArguments {
  std::string log;
  double speed = 0;  // times as fast as it was; 0: without waiting
  ProgressArguments progress;
};

using Arguments =
    std::variant<RunArguments, ServeArguments, JobsArguments, WatchArguments, ReplayArguments>;

// Everything there is to say when there is nothing to do: help, version, or what was wrong.
struct Answer {
  int exit_code = 0;
  std::string out;  // for standard output
  std::string err;  // for standard error
};

// `words` as main() got them. The environment variable TIDEMARK_MASTER stands in for --master of
// `jobs` and `watch`.
std::variant<Arguments, Answer> ParseCommandLine(const std::vector<std::string>& words);

}  // namespace tidemark::cli
