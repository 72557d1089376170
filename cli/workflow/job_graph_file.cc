#include "cli/workflow/job_graph_file.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/workflow/yaml_fields.h"
#include "master/workflow/check_workflow.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

// The master has limits of its own.
constexpr workflow::WorkflowLimits kNoLimits = {.jobs_max = 1'000'000};
constexpr double kCountMax = 1e7;
constexpr double kSecondsMax = 1e9;

std::uint32_t Count(Fields& fields, const char* name, double otherwise = 0, double least = 0) {
  return static_cast<std::uint32_t>(fields.Number(name, otherwise, least, kCountMax));
}

absl::StatusOr<ResourceProfile> ReadNode(const YAML::Node& node) {
  absl::StatusOr<Fields> fields = Fields::Of(node, "node");
  if (!fields.ok()) return fields.status();
  const ResourceProfile profile = {
      .disk_read = fields->Number("disk_read_bytes_per_second", 0),
      .disk_write = fields->Number("disk_write_bytes_per_second", 0),
      .dfs_read = fields->Number("file_system_read_bytes_per_second", 0),
      .dfs_write = fields->Number("file_system_write_bytes_per_second", 0),
      .network = fields->Number("network_bytes_per_second", 0),
      .cores = fields->Number("cores", 0, 0, 1e6)};
  if (absl::Status ok = fields->Done(); !ok.ok()) return ok;
  return profile;
}

absl::StatusOr<WorkflowCluster> ReadCluster(const YAML::Node& node) {
  absl::StatusOr<Fields> fields = Fields::Of(node, "cluster");
  if (!fields.ok()) return fields.status();
  const std::map<std::string, SchedulingPolicy> policies = {
      {"fifo", SchedulingPolicy::kFifo},
      {"fair", SchedulingPolicy::kFair},
      {"drf", SchedulingPolicy::kDrf},
      {"capacity", SchedulingPolicy::kCapacity}};
  WorkflowCluster cluster = {.slots = Count(*fields, "slots", 1, 1),
                             .nodes = Count(*fields, "nodes", 1, 1)};
  const std::string policy = fields->Text("policy", "fifo");
  if (const auto known = policies.find(policy); known != policies.end()) {
    cluster.policy = known->second;
  } else {
    fields->Fail(absl::StrCat("policy must be fifo, fair, drf or capacity, not ", policy));
  }
  const YAML::Node queues = fields->Get("queues");
  if (absl::Status ok = fields->Done(); !ok.ok()) return ok;
  if (!queues) return cluster;
  auto read = ReadShares(queues, "cluster: queues");
  if (!read.ok()) return read.status();
  for (const auto& [name, share] : *read) cluster.queues.push_back({name, share});
  return cluster;
}

absl::StatusOr<JobProfile> ReadProfile(const YAML::Node& node, const std::string& where) {
  absl::StatusOr<Fields> fields = Fields::Of(node, where);
  if (!fields.ok()) return fields.status();
  const JobProfile profile = {
      .slots = Count(*fields, "slots"),
      .map_tasks = Count(*fields, "maps"),
      .reduce_tasks = Count(*fields, "reduces"),
      .split_bytes = fields->Number("split_bytes", 0),
      .map_selectivity = fields->Number("map_selectivity", 0),
      .reduce_selectivity = fields->Number("reduce_selectivity", 0),
      .map_task_time = absl::Seconds(fields->Number("map_task_seconds", 0, 0, kSecondsMax)),
      .reduce_task_time = absl::Seconds(fields->Number("reduce_task_seconds", 0, 0, kSecondsMax)),
      .map_task_variation = fields->Number("map_task_variation", 0),
      .reduce_task_variation = fields->Number("reduce_task_variation", 0)};
  if (absl::Status ok = fields->Done(); !ok.ok()) return ok;
  return profile;
}

absl::StatusOr<std::vector<std::string>> NamesOf(const YAML::Node& node, const std::string& where) {
  std::vector<std::string> names;
  if (!node) return names;
  if (node.IsScalar()) return std::vector<std::string>{node.Scalar()};
  if (!node.IsSequence()) return Wrong(where, "after must be the name of a job or a list of names");
  for (const YAML::Node& name : node) {
    if (!name.IsScalar()) return Wrong(where, "after must be a list of names");
    names.push_back(name.Scalar());
  }
  return names;
}

absl::StatusOr<WorkflowJob> ReadJob(const YAML::Node& node, std::size_t number) {
  const std::string unnamed = absl::StrCat("job ", number);
  absl::StatusOr<Fields> fields = Fields::Of(node, unnamed);
  if (!fields.ok()) return fields.status();
  const std::string name = fields->Text("name", "");
  const std::string where = name.empty() ? unnamed : absl::StrCat("job ", name);
  fields = Fields::Of(node, where);
  WorkflowJob job = {.name = fields->Text("name", ""),
                     .job_id = fields->Text("job_id", ""),
                     .history_name = fields->Text("history", ""),
                     .map_tasks = Count(*fields, "maps"),
                     .reduce_tasks = Count(*fields, "reduces"),
                     .input_bytes = static_cast<std::uint64_t>(fields->Number("input_bytes", 0)),
                     .queue = fields->Text("queue", "")};
  auto after = NamesOf(fields->Get("after"), where);
  if (!after.ok()) return after.status();
  job.after = *std::move(after);
  if (const YAML::Node profile = fields->Get("profile")) {
    auto read = ReadProfile(profile, where + ": profile");
    if (!read.ok()) return read.status();
    job.profile = *std::move(read);
  }
  if (absl::Status ok = fields->Done(); !ok.ok()) return ok;
  if (name.empty()) return Wrong(where, "name is missing");
  return job;
}

absl::StatusOr<WorkflowSpec> Parse(const YAML::Node& root) {
  absl::StatusOr<Fields> fields = Fields::Of(root, "the workflow");
  if (!fields.ok()) return fields.status();
  WorkflowSpec spec = {
      .id = fields->Text("id", ""),
      .name = fields->Text("workflow", ""),
      .retry_within = absl::Seconds(fields->Number("retry_within_seconds", 0, 0, kSecondsMax))};
  if (const YAML::Node cluster = fields->Get("cluster")) {
    auto read = ReadCluster(cluster);
    if (!read.ok()) return read.status();
    spec.cluster = *std::move(read);
  }
  if (const YAML::Node node = fields->Get("node")) {
    auto read = ReadNode(node);
    if (!read.ok()) return read.status();
    spec.cluster.node = *std::move(read);
  }
  const YAML::Node jobs = fields->Get("jobs");
  if (absl::Status ok = fields->Done(); !ok.ok()) return ok;
  if (!jobs || !jobs.IsSequence()) return Wrong("the workflow", "jobs is missing or not a list");
  for (const YAML::Node& node : jobs) {
    auto job = ReadJob(node, spec.jobs.size() + 1);
    if (!job.ok()) return job.status();
    spec.jobs.push_back(*std::move(job));
  }
  if (spec.id.empty()) return Wrong("the workflow", "id is missing");
  if (absl::Status ok = CheckWorkflow(spec, kNoLimits); !ok.ok()) return ok;
  return spec;
}

}  // namespace

absl::StatusOr<WorkflowSpec> ParseJobGraph(const std::string& text) {
  try {
    return Parse(YAML::Load(text));
  } catch (const YAML::Exception& error) {  // of the library only
    return absl::InvalidArgumentError(
        absl::StrCat("line ", error.mark.line + 1, ": not valid YAML: ", error.msg));
  }
}

absl::StatusOr<WorkflowSpec> ReadJobGraph(const std::string& path) {
  const absl::StatusOr<std::string> text = transport::ReadSmallFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<WorkflowSpec> spec = ParseJobGraph(*text);
  if (spec.ok()) return spec;
  return absl::Status(spec.status().code(), absl::StrCat(path, ": ", spec.status().message()));
}

}  // namespace tidemark::cli
