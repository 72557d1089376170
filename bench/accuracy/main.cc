// tidemark_accuracy_bench: see --help; docs/internals/accuracy.md describes the method.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/accuracy/command_line.h"
#include "bench/accuracy/judge_log.h"
#include "bench/accuracy/replay.h"
#include "bench/accuracy/report.h"
#include "bench/accuracy/rows.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/run.h"

namespace tidemark::bench {
namespace {

void Adjust(const Arguments& arguments, Row& row) {
  row.workers = arguments.workers.value_or(row.workers);
  row.waves = arguments.waves.value_or(row.waves);
}

absl::StatusOr<std::vector<RowResult>> RunSuites(const Arguments& arguments) {
  std::vector<Row> rows;
  for (const std::string& suite : arguments.suites) {
    absl::StatusOr<std::vector<Row>> of_suite = RowsOf(suite);
    if (!of_suite.ok()) return of_suite.status();
    for (Row& row : *of_suite) {
      Adjust(arguments, row);
      const bool is_wanted = std::any_of(
          arguments.rows.begin(), arguments.rows.end(),
          [&](const std::string& part) { return row.name().find(part) != std::string::npos; });
      if (is_wanted || arguments.rows.empty()) rows.push_back(std::move(row));
    }
  }
  return ReplayRows(rows, DataSets(arguments.places), arguments.replay);
}

absl::StatusOr<std::vector<RowResult>> RunJob(const Arguments& arguments) {
  Row row = {.suite = "own", .job = arguments.job, .scenario = arguments.scenario};
  for (const std::string& path : arguments.inputs) {
    if (!row.data.empty()) row.data += "+";
    row.data += std::filesystem::path(path).stem().stem().string();
  }
  for (const auto& [name, value] : arguments.parameters) {
    row.data += fmt::format("-{}-{}", name, value);
  }
  // A file name that identifies the content among many files.
  constexpr std::size_t kNameMax = 100;
  row.data.resize(std::min(row.data.size(), kNameMax));
  Adjust(arguments, row);
  absl::StatusOr<RowResult> result = ReplayRow(
      row, {.job = arguments.job, .paths = arguments.inputs, .parameters = arguments.parameters},
      arguments.replay);
  if (!result.ok()) return result.status();
  std::vector<RowResult> results;
  results.push_back(*std::move(result));
  return results;
}

absl::StatusOr<std::vector<RowResult>> RunLog(const Arguments& arguments) {
  absl::StatusOr<JudgedLog> judged = JudgeLog(arguments.log, arguments.replay.indicators);
  if (!judged.ok()) return judged.status();
  RowResult result = {.row = {.suite = "own",
                              .job = std::filesystem::path(arguments.log).stem().string(),
                              .is_live = true},
                      .indicators = arguments.replay.indicators};
  result.runs.push_back(MeasureRun(std::move(judged->simulation), 1, arguments.replay.keep_curves));
  return std::vector<RowResult>{std::move(result)};
}

absl::StatusOr<std::vector<RowResult>> RunAny(const Arguments& arguments) {
  if (!arguments.log.empty()) return RunLog(arguments);
  return arguments.job.empty() ? RunSuites(arguments) : RunJob(arguments);
}

absl::Status Run(const Arguments& arguments) {
  const auto before = std::chrono::steady_clock::now();
  absl::StatusOr<std::vector<RowResult>> results = RunAny(arguments);
  if (!results.ok()) return results.status();
  fmt::print("{}", TableOf(*results));
  double tick_seconds = 0;
  for (const RowResult& result : *results) tick_seconds += result.tick_seconds;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - before;
  fmt::print(stderr, "took {:.1f} s; an update of all indicators {:.2f} ms\n", elapsed.count(),
             results->empty() ? 0 : 1000 * tick_seconds / static_cast<double>(results->size()));
  if (!arguments.json_path.empty()) {
    absl::Status written = examples::WriteWholeFile(arguments.json_path, JsonOf(*results));
    if (!written.ok()) return written;
  }
  if (arguments.curves_path.empty()) return absl::OkStatus();
  return examples::WriteWholeFile(arguments.curves_path, CurvesOf(*results));
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  // Runs as a worker of live rows.
  if (argc > 1 && std::string_view(argv[1]) == "worker") {
    return tidemark::examples::WorkerMain({argv + 2, argv + argc});
  }
  const tidemark::bench::Parsed parsed = tidemark::bench::ParseCommandLine(argc, argv);
  if (!parsed.arguments) return parsed.exit_code;
  const absl::Status status = tidemark::bench::Run(*parsed.arguments);
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", std::string(status.message()));
  return 1;
}
