#include "bench/accuracy/live.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "bench/accuracy/judge_log.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/run.h"
#include "master/store/event_log.h"

namespace tidemark::bench {
namespace {

namespace fs = std::filesystem;

// The directory of one run, which the destructor removes.
class RunDirectory {
 public:
  explicit RunDirectory(std::string path) : path_(std::move(path)) { Remove(); }
  ~RunDirectory() { Remove(); }
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  void Remove() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string path_;
};

// Runs the job in `directory`. Returns the path of its event log.
absl::StatusOr<std::string> RunOnce(const Row& row, const JobInputs& inputs,
                                    const std::string& directory, std::uint64_t seed,
                                    const std::vector<std::string>& indicators) {
  if (absl::Status made = examples::MakeDirectories(directory); !made.ok()) return made;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return absl::UnavailableError(fmt::format("/proc/self/exe: {}", error.message()));

  const std::string output = examples::PathOf(directory, "output");
  examples::RunOptions run = {.job = row.job,
                              .job_id = fmt::format("{}-{}", row.cost_log_name(), seed),
                              .inputs = inputs.paths,
                              .output_dir = output,
                              .output = examples::OutputKind::kDeflate,
                              .slots = row.slots(),
                              .reduce_task_count = row.slots() * row.waves,
                              .parameters = inputs.parameters,
                              .worker_command = {self.string(), "worker"}};
  run.master_options.event_log_dir = directory;
  // Agents then send the data that these indicators need.
  run.master_options.job.indicators = indicators;
  run.master_options.tick_interval = run.master_options.tick_interval_min = absl::Seconds(1);
  const absl::StatusOr<examples::RunSummary> summary = examples::RunJob(run);
  if (!summary.ok()) return summary.status();
  fs::remove_all(output, error);
  return store::EventLogPath(directory, run.job_id);
}

// Adds Tidemark's predictions for each run, with the other runs as past runs.
absl::Status JudgeWithHistory(const std::vector<std::string>& logs, std::vector<JudgedLog>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<PastRun> others;
    for (std::size_t j = 0; j < runs.size(); ++j) {
      if (j != i && runs[j].run) others.push_back(*runs[j].run);
    }
    absl::StatusOr<JudgedLog> judged = JudgeLog(logs[i], {"tidemark"}, others);
    if (!judged.ok()) return judged.status();
    IndicatorRecord& record = judged->simulation.records.front();
    record.indicator = kWithHistory;
    runs[i].simulation.records.push_back(std::move(record));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RowResult> RunLive(const Row& row, const JobInputs& inputs,
                                  const ReplayOptions& options) {
  const RunDirectory directory(
      examples::PathOf(options.cost_logs, fmt::format("live.{}", row.cost_log_name())));
  std::vector<std::string> logs;
  std::vector<JudgedLog> runs;
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    fmt::print(stderr, "running {} ...\n", row.name());
    const auto log = RunOnce(row, inputs, examples::PathOf(directory.path(), fmt::to_string(seed)),
                             seed, options.indicators);
    if (!log.ok()) return examples::Annotate(log.status(), row.name());
    absl::StatusOr<JudgedLog> judged = JudgeLog(*log, options.indicators);
    if (!judged.ok()) return examples::Annotate(judged.status(), row.name());
    fmt::print(stderr, "  {:.0f} s\n", judged->simulation.timeline.end);
    logs.push_back(*log);
    runs.push_back(*std::move(judged));
  }
  RowResult result = {.row = row, .indicators = options.indicators};
  if (runs.size() > 1) {
    if (absl::Status judged = JudgeWithHistory(logs, runs); !judged.ok()) return judged;
    result.indicators.push_back(kWithHistory);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    result.runs.push_back(MeasureRun(std::move(runs[i].simulation), i + 1, options.keep_curves));
  }
  return result;
}

}  // namespace tidemark::bench
