// For each report of a task in an event log, measures how well the processed share of its input
// predicts the elapsed share of its time.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/fold.h"
#include "master/facts/job_record.h"
#include "master/store/event_log.h"

namespace tidemark::bench {
namespace {

class Fractions {
 public:
  explicit Fractions(double seconds_min) : seconds_min_(seconds_min) {}

  void Take(const Event& event) {
    facts::Apply(event, {}, record_).IgnoreError();  // The master has logged the errors.
    if (const auto* heartbeat = std::get_if<TaskHeartbeat>(&event.body)) {
      Report(heartbeat->attempt, event.arrived_at);
    } else if (const auto* changed = std::get_if<AttemptChanged>(&event.body)) {
      if (changed->state == AttemptState::kFinished) Judge(changed->attempt);
    }
  }

  nlohmann::json Result() const {
    nlohmann::json stages = nlohmann::json::array();
    for (const auto& [number, errors] : stages_) {
      nlohmann::json row = errors.Row();
      row["stage"] = number;
      row["name"] = record_.stages.at(number).opened.name;
      stages.push_back(std::move(row));
    }
    return {{"stages", std::move(stages)}, {"all", all_.Row()}};
  }

 private:
  // The stage, the attempt at the stage, the index of a task, and the number of the attempt at the
  // task.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  static Key KeyOf(const AttemptId& id) {
    return {id.stage, id.stage_attempt, id.index, id.attempt};
  }
  struct Progress {
    absl::Time at;
    std::optional<double> fraction;
  };
  struct Errors {
    std::uint64_t tasks = 0;
    std::uint64_t reports = 0;
    std::uint64_t told = 0;  // number of reports with a fraction
    double sum = 0;

    nlohmann::json Row() const {
      nlohmann::json row = {{"tasks", tasks}, {"reports", reports}, {"told", told}};
      row["mean_error"] = told > 0 ? nlohmann::json(sum / static_cast<double>(told)) : nullptr;
      return row;
    }
  };

  const facts::TaskAttempt* Find(const AttemptId& id) {
    const auto stage = record_.stages.find(id.stage);
    const facts::Task* task =
        stage == record_.stages.end() ? nullptr : stage->second.task(id.index);
    if (task == nullptr) return nullptr;
    const auto attempt = task->attempts.find({id.stage_attempt, id.attempt});
    return attempt == task->attempts.end() ? nullptr : &attempt->second;
  }

  void Report(const AttemptId& id, absl::Time at) {
    const facts::TaskAttempt* const attempt = Find(id);
    if (attempt == nullptr || !attempt->life.is_running()) return;
    facts::Stage& stage = record_.stages.at(id.stage);
    reports_[KeyOf(id)].push_back(
        {at, stage.FractionDone(*stage.task(id.index), *attempt, stage.RecordsPerByte())});
  }

  void Judge(const AttemptId& id) {
    const std::vector<Progress> reports = std::exchange(reports_[KeyOf(id)], {});
    const facts::TaskAttempt* const attempt = Find(id);
    if (attempt == nullptr || !attempt->life.started_at() || !attempt->life.ended_at()) return;
    const absl::Time start = *attempt->life.started_at();
    const double seconds = absl::ToDoubleSeconds(*attempt->life.ended_at() - start);
    if (seconds < seconds_min_) return;
    for (Errors* errors : {&all_, &stages_[id.stage]}) {
      ++errors->tasks;
      for (const Progress& report : reports) {
        ++errors->reports;
        if (!report.fraction) continue;
        ++errors->told;
        errors->sum +=
            std::abs(*report.fraction - absl::ToDoubleSeconds(report.at - start) / seconds);
      }
    }
  }

  const double seconds_min_;
  facts::JobRecord record_{1};
  std::map<Key, std::vector<Progress>> reports_;
  std::map<std::uint32_t, Errors> stages_;
  Errors all_;
};

int Run(const std::string& path, double seconds_min) {
  const auto reader = store::EventLogReader::Open(path);
  if (!reader.ok()) {
    fmt::print(stderr, "{}\n", reader.status().ToString());
    return 1;
  }
  Fractions fractions(seconds_min);
  for (;;) {
    const auto record = (*reader)->Next();
    if (!record.ok()) {
      fmt::print(stderr, "{}\n", record.status().ToString());
      return 1;
    }
    if (!record->has_value()) break;
    if (const auto* event = std::get_if<Event>(&**record)) fractions.Take(*event);
  }
  fmt::print("{}\n", fractions.Result().dump(1));
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  CLI::App app(
      "Measures the error of the progress of running tasks, from the event log of a master.");
  std::string path;
  double seconds_min = 2;
  app.add_option("log", path, "APPLICATION.tidemark-log")->required()->check(CLI::ExistingFile);
  app.add_option("--seconds-min", seconds_min, "Minimum duration of the evaluated tasks");
  CLI11_PARSE(app, argc, argv);
  return tidemark::bench::Run(path, seconds_min);
}
