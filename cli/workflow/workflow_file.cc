#include "cli/workflow/workflow_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/workflow/yaml_fields.h"
#include "master/schedule/dag.h"
#include "master/workflow/mapreduce_model.h"
#include "text/did_you_mean.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

using workflow::StageNow;
using workflow::StageProfile;
using workflow::Warmth;

// More than anybody runs; a larger number is a typing error that would cost memory.
constexpr double kTasksMax = 10'000'000;
constexpr double kSlotsMax = 1'000'000;

absl::StatusOr<std::vector<double>> TimesOf(const YAML::Node& node, const std::string& where) {
  std::vector<double> seconds;
  const auto add = [&](const YAML::Node& item) {
    double value = NAN;
    if (!YAML::convert<double>::decode(item, value)) return false;
    seconds.push_back(value);
    return std::isfinite(value) && value >= 0;
  };
  bool is_valid = node.IsScalar() ? add(node) : node.IsSequence() && node.size() > 0;
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) is_valid = is_valid && add(item);
  }
  if (is_valid) return seconds;
  return Wrong(where, "must be seconds, 0 or more, or a list of them");
}

absl::Status ReadTimes(Fields& fields, StageProfile& profile) {
  constexpr std::pair<const char*, Warmth> kKinds[] = {
      {"fresh_task_seconds", Warmth::kFresh},
      {"first_task_seconds", Warmth::kFirst},
      {"task_seconds", Warmth::kRest},
      {"last_task_seconds", Warmth::kLast},
  };
  for (const auto& [name, kind] : kKinds) {
    const YAML::Node node = fields.Get(name);
    if (!node) continue;
    auto seconds = TimesOf(node, absl::StrCat(fields.where(), ": ", name));
    if (!seconds.ok()) return seconds.status();
    profile.seconds[static_cast<std::size_t>(kind)] = *std::move(seconds);
  }
  // A single time means that warmth is not told apart.
  auto& rest = profile.seconds[static_cast<std::size_t>(Warmth::kRest)];
  if (!rest.empty()) {
    for (auto& kind : profile.seconds) {
      if (kind.empty()) kind = rest;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<workflow::TaskModel> ReadModel(const YAML::Node& node, const std::string& where) {
  absl::StatusOr<Fields> fields = Fields::Of(node, where);
  if (!fields.ok()) return fields.status();
  const workflow::SparkProfile profile = {
      .load = absl::Seconds(fields->Number("load_seconds", 0, 0, 1e6)),
      .input_bytes = fields->Number("input_bytes", 0),
      .shuffle_read_bytes = fields->Number("shuffle_read_bytes", 0),
      .shuffle_write_bytes = fields->Number("shuffle_write_bytes", 0),
      .output_bytes = fields->Number("output_bytes", 0),
      .throughput = fields->Number("core_bytes_per_second", 0)};
  if (absl::Status ok = fields->Done(); !ok.ok()) return ok;
  return workflow::SparkTask(profile);
}

absl::Status ReadNode(const YAML::Node& node, WorkflowFile& file) {
  absl::StatusOr<Fields> fields = Fields::Of(node, "node");
  if (!fields.ok()) return fields.status();
  file.node = {.disk_read = fields->Number("disk_read_bytes_per_second", 0),
               .disk_write = fields->Number("disk_write_bytes_per_second", 0),
               .dfs_read = fields->Number("file_system_read_bytes_per_second", 0),
               .dfs_write = fields->Number("file_system_write_bytes_per_second", 0),
               .network = fields->Number("network_bytes_per_second", 0),
               .cores = fields->Number("cores", 1, 1e-3, 1e6)};
  return fields->Done();
}

absl::Status ReadCluster(const YAML::Node& node, WorkflowFile& file) {
  absl::StatusOr<Fields> fields = Fields::Of(node, "cluster");
  if (!fields.ok()) return fields.status();
  schedule::Resourcing& on = file.on;
  on.cluster.capacity.cores = fields->Number("slots", 1, 1, kSlotsMax);
  on.cluster.capacity.memory_bytes = fields->Number("memory_bytes", 0);
  file.nodes = fields->Number("nodes", 1, 1, kSlotsMax);
  const std::map<std::string, schedule::Policy> policies = {
      {"fifo", schedule::Policy::kFifo},
      {"fair", schedule::Policy::kFair},
      {"drf", schedule::Policy::kDrf},
      {"capacity", schedule::Policy::kCapacity}};
  const std::string policy = fields->Text("policy", "fifo");
  if (const auto known = policies.find(policy); known != policies.end()) {
    on.cluster.policy = known->second;
  } else {
    fields->Fail(absl::StrCat("policy must be fifo, fair, drf or capacity, not ", policy));
  }
  const YAML::Node queues = fields->Get("queues");
  if (absl::Status ok = fields->Done(); !ok.ok()) return ok;
  if (queues) {
    const auto shares = ReadShares(queues, "cluster: queues");
    if (!shares.ok()) return shares.status();
    for (const auto& [queue, share] : *shares) {
      file.queues.push_back(queue);
      on.cluster.queue_shares.push_back(share);
    }
  }
  if (on.cluster.policy == schedule::Policy::kCapacity && file.queues.empty()) {
    return Wrong("cluster", "policy capacity needs queues");
  }
  return absl::OkStatus();
}

class StageReader {
 public:
  explicit StageReader(WorkflowFile& file) : file_(file) {}

  absl::Status Read(const YAML::Node& stages) {
    if (!stages.IsSequence() || stages.size() == 0) {
      return Wrong("stages", "must be a list of at least one stage");
    }
    for (const YAML::Node& node : stages) {
      if (absl::Status ok = ReadStage(node); !ok.ok()) return ok;
    }
    return Connect();
  }

 private:
  absl::Status ReadStage(const YAML::Node& node) {
    const std::string unnamed = absl::StrCat("stage ", file_.now.stages.size() + 1);
    absl::StatusOr<Fields> fields = Fields::Of(node, unnamed);
    if (!fields.ok()) return fields.status();
    const std::string name = fields->Text("name", "");
    if (!name.empty()) fields = Fields::Of(node, absl::StrCat("stage ", name));
    fields->Get("name");
    if (!places_.try_emplace(name, places_.size()).second) {
      return Wrong(fields->where(), "the name is taken by an earlier stage");
    }
    StageNow stage = {.name = name};
    stage.tasks = static_cast<std::uint64_t>(fields->Number("tasks", 0, 0, kTasksMax));
    stage.lag = fields->Number("lag_seconds", 0, 0, 1e9);
    stage.container.cores = fields->Number("slots_per_task", 1, 1e-6, kSlotsMax);
    stage.container.memory_bytes = fields->Number("memory_bytes_per_task", 0);
    const std::string queue = fields->Text("queue", "");
    stage.owner = OwnerOf(fields->Text("owner", queue));
    StageProfile profile = {.name = name, .tasks = stage.tasks, .lag = *stage.lag};
    if (absl::Status ok = ReadTimes(*fields, profile); !ok.ok()) return ok;
    std::optional<workflow::TaskModel> model;
    if (const YAML::Node data = fields->Get("task")) {
      auto read = ReadModel(data, absl::StrCat(fields->where(), ": task"));
      if (!read.ok()) return read.status();
      model = *std::move(read);
    }
    if (absl::Status ok = ReadAfter(fields->Get("after"), fields->where()); !ok.ok()) return ok;
    if (absl::Status ok = fields->Done(); !ok.ok()) return ok;
    // Missing may be what is misspelt, which is said before.
    if (name.empty()) return Wrong(fields->where(), "name is missing");
    if (!fields->Has("tasks")) return Wrong(fields->where(), "tasks is missing");
    if (absl::Status ok = PutIntoQueue(stage.owner, queue, fields->where()); !ok.ok()) return ok;
    if (!model && profile.seconds[static_cast<std::size_t>(Warmth::kRest)].empty()) {
      return Wrong(fields->where(),
                   "no task times: set task_seconds, or task with the data of one task");
    }
    file_.now.stages.push_back(std::move(stage));
    file_.profile.stages.push_back(std::move(profile));
    file_.models.push_back(std::move(model));
    return absl::OkStatus();
  }

  std::size_t OwnerOf(const std::string& owner) {
    return owners_.try_emplace(owner, owners_.size()).first->second;
  }

  // All stages of an owner are in one queue.
  absl::Status PutIntoQueue(std::size_t owner, const std::string& queue, const std::string& where) {
    if (file_.on.cluster.policy != schedule::Policy::kCapacity) return absl::OkStatus();
    const auto known = std::find(file_.queues.begin(), file_.queues.end(), queue);
    if (known == file_.queues.end()) {
      return Wrong(where, queue.empty() ? "queue is missing"
                                        : absl::StrCat("unknown queue ", queue,
                                                       text::DidYouMean(queue, file_.queues)));
    }
    const auto place = static_cast<std::size_t>(known - file_.queues.begin());
    std::vector<std::size_t>& queues = file_.on.queue_of_owner;
    if (owner == queues.size()) queues.push_back(place);
    if (queues[owner] == place) return absl::OkStatus();
    return Wrong(where, "its owner has a stage in another queue");
  }

  absl::Status ReadAfter(const YAML::Node& after, const std::string& where) {
    after_.emplace_back();
    if (!after) return absl::OkStatus();
    if (after.IsScalar()) {
      after_.back().push_back(after.Scalar());
      return absl::OkStatus();
    }
    if (!after.IsSequence())
      return Wrong(where, "after must be the name of a stage or a list of names");
    for (const YAML::Node& parent : after) {
      if (!parent.IsScalar()) return Wrong(where, "after must be a list of names");
      after_.back().push_back(parent.Scalar());
    }
    return absl::OkStatus();
  }

  absl::Status Connect() {
    std::vector<StageNow>& stages = file_.now.stages;
    schedule::Parents parents(stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) {
      for (const std::string& name : after_[i]) {
        const auto place = places_.find(name);
        if (place == places_.end()) {
          return Wrong(absl::StrCat("stage ", stages[i].name),
                       absl::StrCat("after: unknown stage ", name, DidYouMean(name)));
        }
        parents[i].push_back(place->second);
      }
      stages[i].parents = file_.profile.stages[i].parents = parents[i];
    }
    std::vector<std::string> cycle;
    for (const std::size_t stage : schedule::CycleOf(parents)) cycle.push_back(stages[stage].name);
    if (cycle.empty()) return absl::OkStatus();
    return Wrong("the workflow",
                 absl::StrCat("its stages form a cycle: ", absl::StrJoin(cycle, " waits for ")));
  }

  std::string DidYouMean(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [known, place] : places_) names.push_back(known);
    return text::DidYouMean(name, names);
  }

  WorkflowFile& file_;
  std::map<std::string, std::size_t> places_;
  std::map<std::string, std::size_t> owners_;
  std::vector<std::vector<std::string>> after_;
};

absl::StatusOr<WorkflowFile> Parse(const YAML::Node& root) {
  WorkflowFile file;
  file.on.cluster = {.capacity = {.cores = 1}, .policy = schedule::Policy::kFifo};
  absl::StatusOr<Fields> fields = Fields::Of(root, "the workflow");
  if (!fields.ok()) return fields.status();
  file.name = fields->Text("workflow", "workflow");
  if (const YAML::Node cluster = fields->Get("cluster")) {
    if (absl::Status ok = ReadCluster(cluster, file); !ok.ok()) return ok;
  }
  if (const YAML::Node node = fields->Get("node")) {
    if (absl::Status ok = ReadNode(node, file); !ok.ok()) return ok;
  }
  file.profile.slots =
      fields->Number("profiled_slots", file.on.cluster.capacity.cores, 1, kSlotsMax);
  const YAML::Node stages = fields->Get("stages");
  if (absl::Status ok = fields->Done(); !ok.ok()) return ok;
  if (!stages) return Wrong("the workflow", "stages is missing");
  if (absl::Status ok = StageReader(file).Read(stages); !ok.ok()) return ok;
  // A file without queues of memory counts slots only.
  if (file.on.cluster.capacity.memory_bytes == 0) {
    for (StageNow& stage : file.now.stages) stage.container.memory_bytes = 0;
  }
  return file;
}

// Times of modelled stages become a profile at this very cluster.
absl::StatusOr<std::vector<std::string>> ApplyModels(WorkflowFile& file) {
  std::vector<std::string> bottlenecks(file.models.size());
  const double slots = file.on.cluster.capacity.cores;
  for (std::size_t i = 0; i < file.models.size(); ++i) {
    if (!file.models[i]) continue;
    StageNow& stage = file.now.stages[i];
    const double at_once =
        std::min(slots / stage.container.cores, static_cast<double>(stage.tasks));
    const double per_node = std::max(at_once / file.nodes, 1.0);
    const auto time = workflow::EstimateTask(*file.models[i], file.node, per_node);
    if (!time.ok())
      return Wrong(absl::StrCat("stage ", stage.name), std::string(time.status().message()));
    bottlenecks[i] = std::string(workflow::NameOf(time->bottleneck));
    // A measured time at the profiled slots would not know of this number of slots: the model wins.
    for (auto& kind : file.profile.stages[i].seconds) {
      kind = {absl::ToDoubleSeconds(time->total)};
    }
  }
  return bottlenecks;
}

}  // namespace

absl::StatusOr<WorkflowFile> ParseWorkflow(const std::string& text) {
  try {
    return Parse(YAML::Load(text));
  } catch (const YAML::Exception& error) {  // of the library only
    return absl::InvalidArgumentError(
        absl::StrCat("line ", error.mark.line + 1, ": not valid YAML: ", error.msg));
  }
}

absl::StatusOr<WorkflowFile> ReadWorkflow(const std::string& path) {
  const absl::StatusOr<std::string> text = transport::ReadSmallFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<WorkflowFile> workflow = ParseWorkflow(*text);
  if (workflow.ok()) return workflow;
  return absl::Status(workflow.status().code(),
                      absl::StrCat(path, ": ", workflow.status().message()));
}

WorkflowFile WithSlots(WorkflowFile file, double slots) {
  file.on.cluster.capacity.cores = slots;
  return file;
}

WorkflowFile WithData(WorkflowFile file, double times) {
  for (std::size_t i = 0; i < file.now.stages.size(); ++i) {
    const double tasks = std::ceil(static_cast<double>(file.now.stages[i].tasks) * times);
    file.now.stages[i].tasks = static_cast<std::uint64_t>(std::min(tasks, kTasksMax));
  }
  return file;
}

absl::StatusOr<WorkflowAnswer> EstimateFile(const WorkflowFile& file) {
  WorkflowFile modelled = file;
  const auto bottlenecks = ApplyModels(modelled);
  if (!bottlenecks.ok()) return bottlenecks.status();
  const std::vector<const workflow::RunProfile*> history = {&modelled.profile};
  workflow::StagesOptions options;
  auto estimate = estimate::EstimateApplication(
      workflow::ApplicationOfStages(modelled.now, history, modelled.on, options));
  if (!estimate.ok()) return estimate.status();
  WorkflowAnswer answer = {.estimate = *std::move(estimate)};
  double work = 0;
  for (std::size_t i = 0; i < modelled.now.stages.size(); ++i) {
    const estimate::StageEstimate& stage = answer.estimate.stages[i];
    answer.stages.push_back({.name = modelled.now.stages[i].name,
                             .start = stage.start,
                             .end = stage.end,
                             .is_critical = stage.is_critical,
                             .bottleneck = (*bottlenecks)[i]});
    const auto& rest = modelled.profile.stages[i].seconds[static_cast<std::size_t>(Warmth::kRest)];
    double mean = 0;
    for (const double time : rest) mean += time / static_cast<double>(rest.size());
    work += mean * static_cast<double>(modelled.now.stages[i].tasks) *
            modelled.now.stages[i].container.cores;
  }
  const double capacity = answer.estimate.end.median * modelled.on.cluster.capacity.cores;
  answer.busy_share = capacity > 0 ? std::min(work / capacity, 1.0) : 0;
  return answer;
}

}  // namespace tidemark::cli
