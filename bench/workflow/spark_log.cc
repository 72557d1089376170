#include "bench/workflow/spark_log.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/workflow/unpack.h"

namespace tidemark::bench {
namespace {

using nlohmann::json;

struct Task {
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
  std::string executor;
};

struct Stage {
  std::string name;
  std::vector<int> parents;
  int job = 0;
  std::int64_t submitted_ms = 0;
  std::vector<Task> tasks;
};

class LogReader {
 public:
  absl::Status Read(const std::string& text) {
    std::istringstream lines(text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      try {
        Event(json::parse(line));
      } catch (const json::exception& error) {
        // A log of a running or killed application ends in the middle of a line.
        if (lines.peek() == std::istringstream::traits_type::eof()) break;
        return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", error.what()));
      }
    }
    if (submitted_ms_.empty()) return absl::InvalidArgumentError("no job");
    return absl::OkStatus();
  }

  Trace Build() {
    begin_ms_ = submitted_ms_.begin()->second;
    for (const auto& [job, at_ms] : submitted_ms_) begin_ms_ = std::min(begin_ms_, at_ms);
    Trace trace = {.slots = std::max(cores_, 1.0)};
    for (const auto& [added_ms, slots] : executors_) {
      trace.executors.push_back({std::max(Seconds(added_ms), 0.0), slots});
    }
    for (auto& [id, stage] : stages_) {
      if (stage.tasks.empty()) continue;
      place_[id] = trace.stages.size();
      trace.stages.push_back(Build(stage));
    }
    Finish(trace);
    return trace;
  }

 private:
  void Event(const json& event) {
    const std::string& kind = event.at("Event").get_ref<const std::string&>();
    if (kind == "SparkListenerExecutorAdded") {
      const double cores = event.at("Executor Info").at("Total Cores").get<double>();
      const std::string id = event.at("Executor ID").get<std::string>();
      if (executor_cores_.emplace(id, cores).second) {
        executor_place_[id] = static_cast<std::uint32_t>(executors_.size());
        executors_.push_back({event.value("Timestamp", std::int64_t{0}),
                              static_cast<std::uint32_t>(std::max(cores, 1.0))});
      }
      cores_ = std::max(cores_, cores_now_ += cores);
    } else if (kind == "SparkListenerExecutorRemoved") {
      cores_now_ -= executor_cores_[event.at("Executor ID").get<std::string>()];
    } else if (kind == "SparkListenerJobStart") {
      JobStart(event);
    } else if (kind == "SparkListenerStageCompleted") {
      const json& info = event.at("Stage Info");
      const auto stage = stages_.find(info.at("Stage ID").get<int>());
      if (stage != stages_.end() && info.contains("Submission Time")) {
        stage->second.submitted_ms = info.at("Submission Time").get<std::int64_t>();
      }
    } else if (kind == "SparkListenerTaskEnd") {
      TaskEnd(event);
    }
  }

  void JobStart(const json& event) {
    const int id = event.at("Job ID").get<int>();
    const std::int64_t submitted_ms = event.at("Submission Time").get<std::int64_t>();
    submitted_ms_[id] = submitted_ms;
    for (const json& info : event.at("Stage Infos")) {
      const int stage_id = info.at("Stage ID").get<int>();
      // A stage that an earlier job shares is skipped by this one.
      Stage stage = {.name = absl::StrCat(info.at("Stage Name").get<std::string>(), " of ",
                                          info.at("Number of Tasks").get<int>()),
                     .job = id,
                     .submitted_ms = submitted_ms};
      for (const json& parent : info.at("Parent IDs")) stage.parents.push_back(parent.get<int>());
      stages_.try_emplace(stage_id, std::move(stage));
    }
  }

  void TaskEnd(const json& event) {
    const auto stage = stages_.find(event.at("Stage ID").get<int>());
    if (stage == stages_.end()) return;
    const json& info = event.at("Task Info");
    const Task task = {info.at("Launch Time").get<std::int64_t>(),
                       info.at("Finish Time").get<std::int64_t>(),
                       info.at("Executor ID").get<std::string>()};
    if (task.end_ms >= task.start_ms) stage->second.tasks.push_back(task);
  }

  double Seconds(std::int64_t ms) const { return static_cast<double>(ms - begin_ms_) * 1e-3; }

  TraceStage Build(Stage& stage) {
    TraceStage built = {.name = stage.name,
                        .group = absl::StrCat("job ", stage.job),
                        .visible_at = Seconds(submitted_ms_[stage.job]),
                        .submitted_at = Seconds(stage.submitted_ms)};
    for (const int parent : stage.parents) AddParent(parent, built);
    std::stable_sort(stage.tasks.begin(), stage.tasks.end(),
                     [](const Task& a, const Task& b) { return a.start_ms < b.start_ms; });
    for (const Task& task : stage.tasks) {
      TraceTask& ran = built.tasks.emplace_back();
      ran.start = Seconds(task.start_ms);
      ran.end = Seconds(task.end_ms);
      const auto place = executor_place_.find(task.executor);
      if (place != executor_place_.end()) ran.executor = place->second;
    }
    return built;
  }

  // Parents without tasks stand for theirs.
  void AddParent(int parent, TraceStage& stage) {
    if (const auto place = place_.find(parent); place != place_.end()) {
      stage.parents.push_back(place->second);
    } else if (const auto skipped = stages_.find(parent); skipped != stages_.end()) {
      for (const int grandparent : skipped->second.parents) {
        if (grandparent < parent) AddParent(grandparent, stage);
      }
    }
  }

  std::map<int, std::int64_t> submitted_ms_;  // of jobs
  std::map<int, Stage> stages_;
  std::map<int, std::size_t> place_;
  std::map<std::string, double> executor_cores_;
  std::map<std::string, std::uint32_t> executor_place_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> executors_;  // when added, and their slots
  double cores_ = 0;
  double cores_now_ = 0;
  std::int64_t begin_ms_ = 0;
};

}  // namespace

absl::StatusOr<Trace> ReadSparkLog(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadUnpacked(path);
  if (!text.ok()) return text.status();
  LogReader reader;
  if (absl::Status ok = reader.Read(*text); !ok.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", ok.message()));
  }
  return reader.Build();
}

}  // namespace tidemark::bench
