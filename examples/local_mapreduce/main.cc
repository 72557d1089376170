// local_mapreduce run JOB OUTPUT_DIR [OPTION=VALUE...]
// local_mapreduce worker ...
//
// The engine without a command line worth the name, for tests; `tidemark run example` has one.
// Options: input (repeatable), slots, maps, reducers, output (text, deflate, count), watch (yes,
// no); everything else is a parameter of the job.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "examples/local_mapreduce/run.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

std::uint32_t Number(const std::string& text) {
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

RunOptions ParseOptions(const std::vector<std::string>& arguments) {
  RunOptions options = {.job = arguments[0], .output_dir = arguments[1]};
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : arguments[i].substr(equals + 1);
    if (name == "input") {
      options.inputs.push_back(value);
    } else if (name == "slots") {
      options.slots = Number(value);
    } else if (name == "maps") {
      options.map_task_count = Number(value);
    } else if (name == "reducers") {
      options.reduce_task_count = Number(value);
    } else if (name == "output") {
      options.output = value == "count"     ? OutputKind::kCount
                       : value == "deflate" ? OutputKind::kDeflate
                                            : OutputKind::kText;
    } else if (name == "watch") {
      options.agent_enabled = value != "no";
    } else {
      options.parameters[name] = value;
    }
  }
  return options;
}

int Run(const std::vector<std::string>& arguments) {
  const absl::StatusOr<RunSummary> summary = RunJob(ParseOptions(arguments));
  if (!summary.ok()) {
    fmt::print(stderr, "{}\n", std::string(summary.status().message()));
    return 1;
  }
  fmt::print("elapsed_seconds {:.3f}\nreduce_seconds {:.3f}\n",
             absl::ToDoubleSeconds(summary->elapsed),
             absl::ToDoubleSeconds(summary->reduce_elapsed));
  fmt::print("map_output_records {}\nmap_output_bytes {}\nreduce_input_groups {}\n",
             summary->map_output_records, summary->map_output_bytes, summary->reduce_input_groups);
  fmt::print("reduce_output_records {}\nreduce_output_bytes {}\nreduce_output_checksum {:016x}\n",
             summary->reduce_output_records, summary->reduce_output_bytes,
             summary->reduce_output_checksum);
  return 0;
}

}  // namespace
}  // namespace tidemark::examples

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (!arguments.empty()) arguments.erase(arguments.begin());
  if (command == "worker") return tidemark::examples::WorkerMain(arguments);
  if (command == "run" && arguments.size() >= 2) return tidemark::examples::Run(arguments);
  fmt::print(stderr, "usage: local_mapreduce run JOB OUTPUT_DIR [OPTION=VALUE...]\n");
  return 2;
}
