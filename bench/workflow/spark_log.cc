#include "bench/workflow/spark_log.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/workflow/unpack.h"

namespace tidemark::bench {
namespace {

using nlohmann::json;
using workflow::Warmth;

// How many of the jobs that ended last a new one is taken to have waited for.
constexpr std::size_t kJobsWaitedFor = 8;

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

struct Job {
  std::int64_t submitted_ms = 0;
  std::int64_t ended_ms = 0;
  int last_stage = -1;
  std::set<int> stages;
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
    if (jobs_.empty()) return absl::InvalidArgumentError("no job");
    return absl::OkStatus();
  }

  Trace Build() {
    begin_ms_ = jobs_.begin()->second.submitted_ms;
    for (const auto& [id, job] : jobs_) begin_ms_ = std::min(begin_ms_, job.submitted_ms);
    Trace trace = {.slots = std::max(cores_, 1.0)};
    for (auto& [id, stage] : stages_) {
      if (stage.tasks.empty()) continue;
      place_[id] = trace.stages.size();
      trace.stages.push_back(Build(id, stage));
    }
    SetLags(trace);
    Finish(trace);
    return trace;
  }

 private:
  void Event(const json& event) {
    const std::string& kind = event.at("Event").get_ref<const std::string&>();
    if (kind == "SparkListenerExecutorAdded") {
      const double cores = event.at("Executor Info").at("Total Cores").get<double>();
      executor_cores_[event.at("Executor ID").get<std::string>()] = cores;
      cores_ = std::max(cores_, cores_now_ += cores);
    } else if (kind == "SparkListenerExecutorRemoved") {
      cores_now_ -= executor_cores_[event.at("Executor ID").get<std::string>()];
    } else if (kind == "SparkListenerJobStart") {
      JobStart(event);
    } else if (kind == "SparkListenerJobEnd") {
      jobs_[event.at("Job ID").get<int>()].ended_ms =
          event.at("Completion Time").get<std::int64_t>();
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
    Job& job = jobs_[id];
    job.submitted_ms = event.at("Submission Time").get<std::int64_t>();
    for (const json& info : event.at("Stage Infos")) {
      const int stage_id = info.at("Stage ID").get<int>();
      job.last_stage = std::max(job.last_stage, stage_id);
      job.stages.insert(stage_id);
      // A stage that an earlier job shares is skipped by this one.
      Stage stage = {.name = absl::StrCat(info.at("Stage Name").get<std::string>(), " of ",
                                          info.at("Number of Tasks").get<int>()),
                     .job = id,
                     .submitted_ms = job.submitted_ms};
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

  TraceStage Build(int id, Stage& stage) {
    TraceStage built = {.name = stage.name, .visible_at = Seconds(jobs_[stage.job].submitted_ms)};
    for (const int parent : stage.parents) AddParent(parent, built);
    if (built.parents.empty()) {
      for (const int last : LastStagesBefore(jobs_[stage.job].submitted_ms)) {
        if (last < id) AddParent(last, built);
      }
    }
    std::stable_sort(stage.tasks.begin(), stage.tasks.end(),
                     [](const Task& a, const Task& b) { return a.start_ms < b.start_ms; });
    std::map<std::string, double> of_stage;  // tasks of this stage, by executor
    for (const Task& task : stage.tasks) {
      const double cores = std::max(executor_cores_[task.executor], 1.0);
      const bool first = of_stage[task.executor]++ < cores;
      const bool fresh = tasks_of_executor_[task.executor]++ < cores;
      built.tasks.push_back({Seconds(task.start_ms), Seconds(task.end_ms),
                             fresh   ? Warmth::kFresh
                             : first ? Warmth::kFirst
                                     : Warmth::kRest});
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

  std::vector<int> LastStagesBefore(std::int64_t submitted_ms) const {
    std::vector<std::pair<std::int64_t, int>> ended;
    for (const auto& [id, job] : jobs_) {
      if (job.ended_ms == 0 || job.ended_ms > submitted_ms) continue;
      // The last of its stages that ran.
      for (auto stage = job.stages.rbegin(); stage != job.stages.rend(); ++stage) {
        if (!place_.contains(*stage)) continue;
        ended.emplace_back(job.ended_ms, *stage);
        break;
      }
    }
    std::sort(ended.rbegin(), ended.rend());
    if (ended.size() > kJobsWaitedFor) ended.resize(kJobsWaitedFor);
    std::vector<int> stages;
    for (const auto& [at, stage] : ended) stages.push_back(stage);
    return stages;
  }

  void SetLags(Trace& trace) {
    for (const auto& [id, place] : place_) {
      TraceStage& stage = trace.stages[place];
      double ready = 0;
      for (const std::size_t parent : stage.parents) {
        for (const TraceTask& task : trace.stages[parent].tasks) ready = std::max(ready, task.end);
      }
      stage.lag = std::max(Seconds(stages_[id].submitted_ms) - ready, 0.0);
    }
  }

  std::map<int, Job> jobs_;
  std::map<int, Stage> stages_;
  std::map<int, std::size_t> place_;
  std::map<std::string, double> executor_cores_;
  std::map<std::string, double> tasks_of_executor_;
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
