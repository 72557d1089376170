#include "bench/workflow/cases.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/workflow/events.h"
#include "bench/workflow/rumen.h"
#include "bench/workflow/spark_log.h"
#include "bench/workflow/tpch_times.h"

namespace tidemark::bench {
namespace {

// Returns the files of a folder by name, or an empty list if the folder is missing.
std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Returns the last component of a path up to its first dot. Ends at the first dash in names such as
// q26-e03-application_1.zst.
std::string FamilyOf(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find_first_of("-."));
}

Suite NewSuite(std::string name, Moment moment) {
  return {.name = std::move(name), .moment = moment};
}

// Returns the run as one query whose stages appear when their parents have ended, as in Spark's
// adaptive execution. The plan contains the number of stages.
Trace AsAdaptiveQuery(Trace trace) {
  GroupOpened query = {.group = "sql/0"};
  std::vector<double> ends;
  for (TraceStage& stage : trace.stages) {
    stage.group = query.group;
    for (const std::size_t parent : stage.parents) {
      stage.visible_at = std::max(stage.visible_at, ends[parent]);
    }
    stage.submitted_at = stage.visible_at;
    double& end = ends.emplace_back(stage.visible_at);
    for (const TraceTask& task : stage.tasks) end = std::max(end, task.end);
    query.planned_task_counts.push_back(0);
  }
  trace.groups = {{0, std::move(query)}, {trace.end, GroupClosed{.group = "sql/0"}}};
  return trace;
}

void AddIfAny(Suite suite, std::vector<Suite>& suites) {
  if (!suite.cases.empty()) suites.push_back(std::move(suite));
}

}  // namespace

const Library::Run& Library::Add(Trace trace) {
  PastRun profile = RunOf(trace);
  return runs_.emplace_back(Run{std::move(trace), std::move(profile)});
}

absl::Status Library::LoadTpch(const std::vector<std::string>& files, std::vector<Suite>& suites) {
  Suite near = NewSuite("tpch-one-profile", Moment::kBeforeStart);
  Suite far = NewSuite("tpch-one-profile-far", Moment::kBeforeStart);
  Suite own = NewSuite("tpch-own-profile", Moment::kBeforeStart);
  Suite two = NewSuite("tpch-two-profiles", Moment::kBeforeStart);
  Suite live = NewSuite("tpch-live", Moment::kLive);
  Suite blind = NewSuite("tpch-live-no-history", Moment::kLive);
  Suite adaptive = NewSuite("tpch-adaptive-no-history", Moment::kLive);
  std::vector<Suite> mixes = {NewSuite("mix-fifo", Moment::kBeforeStart),
                              NewSuite("mix-fair", Moment::kBeforeStart),
                              NewSuite("mix-drf", Moment::kBeforeStart)};
  for (const std::string& file : files) {
    auto queries = ReadTpchTimes(file);
    if (!queries.ok()) return queries.status();
    for (const MeasuredQuery& query : *queries) {
      std::map<int, const Run*> runs;
      for (const auto& [executors, stages] : query.by_executors) {
        Trace trace = RunOnVirtualCluster(stages, static_cast<std::size_t>(executors),
                                          placement::Policy::kFifo);
        trace.group = query.size;
        trace.name = absl::StrCat(query.size, " q", query.query, " on ", executors);
        trace.held_out = query.query % 2 == 0;
        runs[executors] = &Add(std::move(trace));
      }
      for (const auto& [executors, run] : runs) {
        own.cases.push_back({&run->trace, {&run->profile}});
        std::vector<std::pair<double, const Run*>> others;
        for (const auto& [other, profile] : runs) {
          if (other == executors) continue;
          const double ratio = std::exp(std::abs(std::log(static_cast<double>(other) / executors)));
          others.emplace_back(ratio, profile);
          (ratio <= 2 ? near : far).cases.push_back({&run->trace, {&profile->profile}});
        }
        // If two runs are equally distant, prefers the smaller run rather than the run with the
        // lower address.
        std::stable_sort(others.begin(), others.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        if (others.size() >= 2) {
          two.cases.push_back(
              {&run->trace, {&others[0].second->profile, &others[1].second->profile}});
        }
        if (others.empty() || (executors != 5 && executors != 20 && executors != 60)) continue;
        live.cases.push_back({&run->trace, {&others[0].second->profile}});
        blind.cases.push_back({&run->trace, {}});
        adaptive.cases.push_back({&Add(AsAdaptiveQuery(run->trace)).trace, {}});
      }
    }
    // Runs two to ten queries at the same time, in the order of the file, with times measured at
    // other numbers of executors.
    constexpr placement::Policy kPolicies[] = {placement::Policy::kFifo, placement::Policy::kFair,
                                               placement::Policy::kDrf};
    for (std::size_t p = 0; p < mixes.size(); ++p) {
      std::size_t first = 0;
      for (std::size_t count = 2; count <= 10; count += 2) {
        std::map<int, std::vector<MeasuredStage>> merged;
        for (std::size_t k = 0; k < count; ++k) {
          const MeasuredQuery& query = (*queries)[(first + k) % queries->size()];
          for (const auto& [executors, stages] : query.by_executors) {
            std::vector<MeasuredStage>& all = merged[executors];
            const std::size_t base = all.size();
            for (MeasuredStage stage : stages) {
              stage.owner = k;
              stage.name = absl::StrCat("q", query.query, " ", stage.name);
              for (std::size_t& parent : stage.parents) parent += base;
              all.push_back(std::move(stage));
            }
          }
        }
        first += count;
        if (!merged.contains(60) || !merged.contains(40)) continue;
        Trace truth = RunOnVirtualCluster(merged[60], 60, kPolicies[p]);
        truth.group = queries->front().size;
        truth.name = absl::StrCat(truth.group, " mix of ", count);
        truth.held_out = count % 4 == 0;
        const Run& run = Add(std::move(truth));
        Trace earlier = RunOnVirtualCluster(merged[40], 40, kPolicies[p]);
        mixes[p].cases.push_back({&run.trace, {&Add(std::move(earlier)).profile}});
      }
    }
  }
  for (Suite* suite : {&own, &near, &far, &two, &live, &blind, &adaptive})
    AddIfAny(std::move(*suite), suites);
  for (Suite& suite : mixes) AddIfAny(std::move(suite), suites);
  return absl::OkStatus();
}

absl::Status Library::LoadSpark(const std::vector<std::string>& logs, std::vector<Suite>& suites) {
  std::map<std::string, std::vector<const Run*>> families;
  for (const std::string& log : logs) {
    absl::StatusOr<Trace> trace = ReadSparkLog(log);
    if (!trace.ok()) return trace.status();
    trace->group = FamilyOf(log);
    trace->name = std::filesystem::path(log).stem().string();
    std::vector<const Run*>& family = families[trace->group];
    trace->held_out = (families.size() - 1) % 2 == 1;  // Holds out every second query.
    family.push_back(&Add(*std::move(trace)));
  }
  Suite one = NewSuite("tpcds-one-run", Moment::kBeforeStart);
  Suite five = NewSuite("tpcds-five-runs", Moment::kBeforeStart);
  Suite live_one = NewSuite("tpcds-live-one-run", Moment::kLive);
  Suite live_five = NewSuite("tpcds-live-five-runs", Moment::kLive);
  Suite blind = NewSuite("tpcds-live-no-history", Moment::kLive);
  // Two programs under one name: the newest past run is of another query.
  Suite live_mixed = NewSuite("tpcds-live-mixed-programs", Moment::kLive);
  for (auto& [name, family] : families) {
    const auto next = families.upper_bound(name);
    const auto& other_family = next == families.end() ? families.begin()->second : next->second;
    for (std::size_t i = 0; i < family.size(); ++i) {
      const Run& run = *family[i];
      std::vector<const Run*> others;
      for (std::size_t step = 1; step < family.size(); ++step) {
        // Strides through the family, so that the sample is not limited to adjacent runs.
        const Run* other = family[(i + step * 17) % family.size()];
        if (other->trace.slots != run.trace.slots) others.push_back(other);
      }
      if (others.size() < 5) continue;
      for (std::size_t k = 0; k < 4; ++k) one.cases.push_back({&run.trace, {&others[k]->profile}});
      std::vector<const PastRun*> runs;
      for (std::size_t k = 0; k < 5; ++k) runs.push_back(&others[k]->profile);
      five.cases.push_back({&run.trace, runs});
      live_one.cases.push_back({&run.trace, {&others[0]->profile}});
      live_five.cases.push_back({&run.trace, runs});
      blind.cases.push_back({&run.trace, {}});
      if (families.size() == 1) continue;
      const Run& of_other_query = *other_family[i % other_family.size()];
      live_mixed.cases.push_back({&run.trace, {&of_other_query.profile, &others[0]->profile}});
    }
  }
  for (Suite* suite : {&one, &five, &live_one, &live_five, &blind, &live_mixed}) {
    AddIfAny(std::move(*suite), suites);
  }
  return absl::OkStatus();
}

absl::Status Library::LoadSimple(const Sources& sources, std::vector<Suite>& suites) {
  Suite nds = NewSuite("nds", Moment::kLive);
  std::vector<std::string> logs = FilesIn(sources.data + "/spark-eventlogs/nds");
  if (logs.empty()) logs = FilesIn(sources.repository + "/workflows/nds");
  for (const std::string& log : logs) {
    absl::StatusOr<Trace> trace = ReadSparkLog(log);
    if (!trace.ok()) return trace.status();
    trace->group = "nds";
    trace->name = std::filesystem::path(log).stem().string();
    trace->held_out = true;
    nds.cases.push_back({&Add(*std::move(trace)).trace, {}});
  }
  AddIfAny(std::move(nds), suites);
  Suite others = NewSuite("spark-other", Moment::kLive);
  logs = FilesIn(sources.data + "/spark-eventlogs/misc");
  for (std::size_t i = 0; i < logs.size(); ++i) {
    absl::StatusOr<Trace> trace = ReadSparkLog(logs[i]);
    if (!trace.ok() || trace->stages.empty()) continue;  // Some logs have no job.
    trace->group = trace->name = std::filesystem::path(logs[i]).stem().string();
    trace->held_out = i % 2 == 1;
    others.cases.push_back({&Add(*std::move(trace)).trace, {}});
  }
  AddIfAny(std::move(others), suites);
  Suite rumen = NewSuite("rumen", Moment::kLive);
  std::vector<std::string> files = FilesIn(sources.data + "/hadoop/rumen");
  if (files.empty()) files = FilesIn(sources.repository + "/workflows/rumen");
  for (const std::string& file : files) {
    if (file.find("trace") == std::string::npos) continue;
    auto traces = ReadRumen(file);
    if (!traces.ok()) return traces.status();
    for (Trace& trace : *traces) {
      trace.held_out = rumen.cases.size() % 2 == 1;
      rumen.cases.push_back({&Add(std::move(trace)).trace, {}});
    }
  }
  AddIfAny(std::move(rumen), suites);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Suite>> Library::Load(const Sources& sources,
                                                 const std::string& wanted) {
  std::vector<Suite> suites;
  const auto want = [&](const std::string& prefix) {
    return prefix.starts_with(wanted) || wanted.starts_with(prefix);
  };
  if (want("tpch") || want("mix")) {
    const auto files = sources.tpch_files.empty() ? FilesIn(sources.data + "/tpch-task-times")
                                                  : sources.tpch_files;
    if (absl::Status ok = LoadTpch(files, suites); !ok.ok()) return ok;
  }
  if (want("tpcds")) {
    const auto logs = sources.spark_logs.empty() ? FilesIn(sources.data + "/spark-eventlogs/tpcds")
                                                 : sources.spark_logs;
    if (absl::Status ok = LoadSpark(logs, suites); !ok.ok()) return ok;
  }
  if (want("nds") || want("rumen") || want("spark-other")) {
    if (absl::Status ok = LoadSimple(sources, suites); !ok.ok()) return ok;
  }
  std::erase_if(suites, [&](const Suite& suite) { return !suite.name.starts_with(wanted); });
  return suites;
}

}  // namespace tidemark::bench
