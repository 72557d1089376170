#include "examples/local_mapreduce/job_plan.h"

#include <charconv>
#include <concepts>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "examples/local_mapreduce/file_io.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

// One function for each struct names its fields in order; Packer and Unpacker carry them out.
class Packer {
 public:
  void Field(const std::string& text) { strings_.push_back(text); }
  void Field(std::integral auto number) { strings_.push_back(fmt::format("{}", number)); }
  void Field(bool flag) { Field(static_cast<int>(flag)); }
  void Field(OutputKind kind) { Field(static_cast<int>(kind)); }
  template <typename Container, typename EachItem>
  void List(Container& items, EachItem each_item) {
    Field(items.size());
    for (auto& item : items) each_item(item);
  }
  std::vector<std::string> strings_;
};

class Unpacker {
 public:
  explicit Unpacker(std::vector<std::string> strings) : strings_(std::move(strings)) {}
  void Field(std::string& text) {
    text = at_ < strings_.size() ? std::move(strings_[at_]) : "";
    ++at_;
  }
  void Field(bool& flag) {
    int number = 0;
    Field(number);
    flag = number != 0;
  }
  void Field(std::integral auto& number) {
    std::string text;
    Field(text);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    ok_ = ok_ && error == std::errc() && end == text.data() + text.size();
  }
  void Field(OutputKind& kind) {
    int number = 0;
    Field(number);
    kind = static_cast<OutputKind>(number);
  }
  template <typename Container, typename EachItem>
  void List(Container& items, EachItem each_item) {
    std::size_t count = 0;
    Field(count);
    for (std::size_t i = 0; i < count && Ok(); ++i) {
      typename Container::value_type item;
      each_item(item);
      items.push_back(std::move(item));
    }
  }
  bool Ok() const { return ok_ && at_ <= strings_.size(); }
  bool AllRead() const { return ok_ && at_ == strings_.size(); }

 private:
  std::vector<std::string> strings_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

using NamedValues = std::vector<std::pair<std::string, std::string>>;

void Fields(auto& archive, auto& plan, NamedValues& parameters) {
  archive.Field(plan.job);
  archive.Field(plan.round);
  archive.Field(plan.job_id);
  archive.Field(plan.run_uid);
  archive.Field(plan.master_address);
  archive.Field(plan.security.ca_file);
  archive.Field(plan.security.certificate_file);
  archive.Field(plan.security.key_file);
  archive.Field(plan.security.server_name);
  archive.Field(plan.security.token_file);
  archive.Field(plan.work_directory);
  archive.Field(plan.output);
  archive.Field(plan.has_combiner);
  archive.Field(plan.reduce_task_count);
  archive.List(parameters, [&](auto& parameter) {
    archive.Field(parameter.first);
    archive.Field(parameter.second);
  });
  archive.List(plan.inputs, [&](auto& input) {
    archive.Field(input.path);
    archive.Field(input.name);
    archive.Field(input.size_bytes);
    archive.Field(input.from_previous_round);
  });
  archive.List(plan.splits, [&](auto& split) {
    archive.Field(split.input);
    archive.Field(split.begin);
    archive.Field(split.end);
  });
}

void Fields(auto& archive, auto& result) {
  archive.List(result.segments, [&](auto& segment) {
    archive.Field(segment.offset);
    archive.Field(segment.size_bytes);
    archive.Field(segment.records);
    archive.Field(segment.record_bytes);
  });
  archive.Field(result.groups);
  archive.Field(result.output.records);
  archive.Field(result.output.bytes);
  archive.Field(result.output.checksum);
  archive.Field(result.reduce_began_nanos);
  archive.Field(result.reduce_ended_nanos);
}

absl::Status Damaged(const std::string& path) {
  return absl::DataLossError(fmt::format("cannot parse {}", path));
}

}  // namespace

std::string JobPlan::path() const { return PathOf(work_directory, "plan"); }
std::string JobPlan::side_directory() const { return PathOf(work_directory, "side"); }
std::string JobPlan::attempt_directory(const AttemptId& attempt) const {
  return fmt::format("{}/{}-{}.{}", work_directory, attempt.kind == TaskKind::kMap ? 'm' : 'r',
                     attempt.index, attempt.attempt);
}
std::string JobPlan::map_output(std::uint32_t map_task) const {
  return PathOf(work_directory, fmt::format("map-{:05}", map_task));
}
std::string JobPlan::part(std::uint32_t reduce_task) const {
  return PathOf(work_directory, PartName(output, reduce_task));
}

absl::Status WritePlan(const JobPlan& plan) {
  NamedValues parameters(plan.parameters.begin(), plan.parameters.end());
  Packer packer;
  Fields(packer, plan, parameters);
  return WriteStrings(plan.path(), packer.strings_);
}

absl::StatusOr<JobPlan> ReadPlan(const std::string& path) {
  absl::StatusOr<std::vector<std::string>> strings = ReadStrings(path);
  if (!strings.ok()) return strings.status();
  Unpacker unpacker(*std::move(strings));
  JobPlan plan;
  NamedValues parameters;
  Fields(unpacker, plan, parameters);
  if (!unpacker.AllRead()) return Damaged(path);
  plan.parameters = {parameters.begin(), parameters.end()};
  return plan;
}

absl::StatusOr<std::unique_ptr<Job>> MakePlannedJob(const JobPlan& plan) {
  absl::StatusOr<const JobDefinition*> definition = FindJob(plan.job);
  if (!definition.ok()) return definition.status();
  return (*definition)
      ->rounds.at(plan.round)({.parameters = plan.parameters,
                               .inputs = plan.inputs,
                               .side_directory = plan.side_directory(),
                               .reduce_task_count = plan.reduce_task_count});
}

absl::Status WriteResult(const std::string& path, const TaskResult& result) {
  Packer packer;
  Fields(packer, result);
  return WriteStrings(path, packer.strings_);
}

absl::StatusOr<TaskResult> ReadResult(const std::string& path) {
  absl::StatusOr<std::vector<std::string>> strings = ReadStrings(path);
  if (!strings.ok()) return strings.status();
  Unpacker unpacker(*std::move(strings));
  TaskResult result;
  Fields(unpacker, result);
  if (!unpacker.AllRead()) return Damaged(path);
  return result;
}

}  // namespace tidemark::examples
