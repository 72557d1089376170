#include "cli/plan_file.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/message.h>
#include <google/protobuf/timestamp.pb.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/wire/message_time.h"
#include "proto/wire/plan_codec.h"
#include "text/did_you_mean.h"
#include "tidemark/field_error.h"
#include "tidemark/v1/plan.pb.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A short name of a field.
struct ShortName {
  const char* message;
  const char* name;
  const char* field;
};
constexpr ShortName kShortNames[] = {
    {"Plan", "workflow", "name"},
    {"Plan", "retry_within_seconds", "retry_within"},
    {"Plan", "deadline", "deadline_at"},
    {"PlannedJob", "history", "history_name"},
    {"PlannedJob", "maps", "map_task_count"},
    {"PlannedJob", "reduces", "reduce_task_count"},
    {"PlannedStage", "tasks", "task_count"},
    {"PlannedStage", "lag_seconds", "lag"},
    {"PlannedStage", "task_seconds", "task_times"},
    {"PlannedStage", "first_task_seconds", "first_task_times"},
    {"PlannedStage", "fresh_task_seconds", "fresh_task_times"},
    {"PlannedStage", "last_task_seconds", "last_task_times"},
    {"TaskData", "load_seconds", "load"},
    {"JobProfile", "maps", "map_task_count"},
    {"JobProfile", "reduces", "reduce_task_count"},
    {"JobProfile", "map_task_seconds", "map_task_time"},
    {"JobProfile", "reduce_task_seconds", "reduce_task_time"},
    {"JobProfile", "map_cpu_seconds", "map_cpu_time"},
    {"JobProfile", "reduce_cpu_seconds", "reduce_cpu_time"},
    {"JobProfile", "map_start_cpu_seconds", "map_start_cpu_time"},
    {"JobProfile", "reduce_start_cpu_seconds", "reduce_start_cpu_time"},
    {"JobProfile", "slot_idle_seconds", "slot_idle_time"},
    {"JobProfile", "reduce_sort_seconds", "reduce_sort_time"},
};
// Longer tasks, lags and waits are assumed to be typing errors and rejected.
constexpr double kSecondsMax = 1e9;

const FieldDescriptor* FieldOf(const Descriptor& message, const std::string& name) {
  for (const ShortName& known : kShortNames) {
    if (message.name() == known.message && name == known.name) {
      return message.FindFieldByName(known.field);
    }
  }
  const FieldDescriptor* field = message.FindFieldByName(name);
  return field != nullptr ? field : message.FindFieldByCamelcaseName(name);
}

std::string NameOf(const FieldDescriptor& field) {
  for (const ShortName& known : kShortNames) {
    if (field.containing_type()->name() == known.message && field.name() == known.field) {
      return known.name;
    }
  }
  return field.name();
}

// Reads a file into a message and stores the first error. Paths have two forms: the fields of the
// message, and the names in the file.
class Reader {
 public:
  absl::StatusOr<Plan> Read(const YAML::Node& root, PlanUse use) {
    v1::Plan plan;
    if (use == PlanUse::kAdd) CheckAddsJobsOnly(root);
    if (status_.ok()) ReadRoot(root, plan);
    if (!status_.ok()) return status_;
    absl::StatusOr<Plan> parsed =
        use == PlanUse::kAdd ? wire::ParsePartOfPlan(plan) : wire::ParsePlan(plan);
    if (!parsed.ok()) return AsWritten(parsed.status());
    if (use == PlanUse::kSubmit && parsed->id.empty()) return Wrong("", "id is missing");
    return parsed;
  }

  // Returns the error with its position in the file.
  absl::Status Locate(const YAML::Node& root, const absl::Status& error) {
    v1::Plan plan;
    ReadRoot(root, plan);
    return AsWritten(error);
  }

 private:
  struct Place {
    int line = 0;
    std::string path;
  };

  absl::Status Wrong(const std::string& path, const std::string& what) const {
    return absl::InvalidArgumentError(path.empty() ? what : path + ": " + what);
  }
  void Fail(const Place& place, const std::string& what) {
    if (status_.ok()) {
      status_ = Wrong(
          fmt::format("line {}{}{}", place.line, place.path.empty() ? "" : ": ", place.path), what);
    }
  }

  // Converts an error about the message to an error about the file.
  absl::Status AsWritten(const absl::Status& status) const {
    const WrongField wrong = WrongFieldOf(status);
    std::string known = wrong.path;  // the field, or its nearest parent in the file
    while (!known.empty() && !places_.contains(known)) {
      const std::size_t end = known.find_last_of(".[");
      known.resize(end == std::string::npos ? 0 : end);
    }
    if (known.empty()) return Wrong(Translated(wrong.path), wrong.description);
    const Place& place = places_.at(known);
    return Wrong(fmt::format("line {}: {}{}", place.line, place.path,
                             Translated(wrong.path.substr(known.size()))),
                 wrong.description);
  }

  // Returns the short name of a field that is missing in the file.
  static std::string Translated(std::string path) {
    for (const ShortName& known : kShortNames) {
      const std::string end = std::string(".") + known.field;
      if (path.ends_with(end) && end.find("name") == std::string::npos) {
        return path.substr(0, path.size() - end.size() + 1) + known.name;
      }
    }
    return path;
  }

  Place Note(const YAML::Node& node, const std::string& field_path, std::string path) {
    Place place = {node.Mark().line + 1, std::move(path)};
    places_[field_path] = place;
    return place;
  }

  void ReadRoot(const YAML::Node& root, v1::Plan& plan) {
    const Place place = {root.Mark().line + 1, ""};
    if (!root.IsMap()) return Fail(place, "must be a mapping of fields to values");
    const bool has_stages = static_cast<bool>(root["stages"]);
    if (has_stages && root["jobs"]) {
      return Fail(place, "has jobs and stages at the top level; put the stages into a job");
    }
    CheckNames(root, *plan.GetDescriptor(), "", {"stages", "profiled_slots", "node"});
    if (!has_stages && !root["jobs"]) Fail(place, "has neither jobs nor stages; add one of them");
    if (has_stages) {
      plan.add_jobs();
      Note(root["stages"], "jobs[0]", "");
    }
    for (const auto& entry : root) {
      if (!status_.ok()) return;
      const std::string name = entry.first.Scalar();
      if (name == "node") {
        ReadEntry(entry, *plan.mutable_cluster(), "cluster", "");
      } else if (name != "stages" && name != "profiled_slots") {
        ReadEntry(entry, plan, "", "");
      } else if (has_stages) {
        ReadEntry(entry, *plan.mutable_jobs(0), "jobs[0]", "");
      } else {
        Fail({entry.first.Mark().line + 1, name}, "must be in a job");
      }
    }
  }

  // Rejects all other fields, since they would be ignored.
  void CheckAddsJobsOnly(const YAML::Node& root) {
    if (!root.IsMap()) return;  // ReadRoot() reports it.
    const auto& fields = *v1::Plan::descriptor();
    for (const auto& entry : root) {
      if (!entry.first.IsScalar()) return;
      const std::string& name = entry.first.Scalar();
      const Place place = {entry.first.Mark().line + 1, name};
      if (name == "stages") Fail(place, "only jobs can be added; put the stages into a job");
      if (name == "node" || (name != "jobs" && FieldOf(fields, name) != nullptr)) {
        Fail(place, "cannot be changed; omit it");
      }
    }
  }

  void CheckNames(const YAML::Node& node, const Descriptor& message, const std::string& path,
                  std::vector<std::string> known) {
    for (int i = 0; i < message.field_count(); ++i) known.push_back(NameOf(*message.field(i)));
    for (const auto& entry : node) {
      const Place place = {entry.first.Mark().line + 1, path};
      if (!entry.first.IsScalar()) return Fail(place, "field names must be strings");
      const std::string name = entry.first.Scalar();
      const bool is_extra = std::find(known.begin(), known.end(), name) != known.end();
      if (is_extra || FieldOf(message, name) != nullptr) continue;
      return Fail(place, fmt::format("unknown field {}{}", name, text::DidYouMean(name, known)));
    }
  }

  void ReadMap(const YAML::Node& node, Message& message, const std::string& field_path,
               const Place& place) {
    if (!node.IsMap()) return Fail(place, "must be a mapping of fields to values");
    CheckNames(node, *message.GetDescriptor(), place.path, {});
    for (const auto& entry : node) {
      if (!status_.ok()) return;
      ReadEntry(entry, message, field_path, place.path);
    }
  }

  template <typename Entry>
  void ReadEntry(const Entry& entry, Message& message, const std::string& field_path,
                 const std::string& path) {
    const std::string name = entry.first.Scalar();
    const FieldDescriptor& field = *FieldOf(*message.GetDescriptor(), name);
    const auto below = [](const std::string& above, const std::string& part) {
      return above.empty() ? part : above + "." + part;
    };
    const std::string full = below(field_path, field.name());
    const bool is_new = !places_.contains(full);
    const Place place = Note(entry.first, full, below(path, name));
    if (!is_new) return Fail(place, "is given twice");
    const YAML::Node& value = entry.second;
    if (value.IsNull()) return;
    if (!field.is_repeated()) return ReadValue(value, message, field, full, place);
    if (value.IsMap() && field.message_type() == v1::Queue::descriptor()) {
      return ReadShares(value, message, field, full, place);
    }
    if (value.IsScalar()) return ReadValue(value, message, field, full, place);
    if (!value.IsSequence()) return Fail(place, "must be a list");
    // An empty list would make it a job without stages.
    if (value.size() == 0 && field.message_type() == v1::PlannedStage::descriptor()) {
      return Fail(place, "must contain at least one stage");
    }
    for (std::size_t i = 0; i < value.size() && status_.ok(); ++i) {
      const std::string item = fmt::format("[{}]", i);
      ReadValue(value[i], message, field, full + item,
                Note(value[i], full + item, place.path + item));
    }
  }

  // Reads queues such as {etl: 3, adhoc: 1}.
  void ReadShares(const YAML::Node& node, Message& message, const FieldDescriptor& field,
                  const std::string& field_path, const Place& place) {
    int number = 0;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) return Fail(place, "queue names must be strings");
      auto& queue = static_cast<v1::Queue&>(*message.GetReflection()->AddMessage(&message, &field));
      const std::string item = fmt::format("{}[{}]", field_path, number++);
      queue.set_name(entry.first.Scalar());
      Note(entry.first, item, place.path + "." + queue.name());
      const Place share = Note(entry.second, item + ".share", place.path + "." + queue.name());
      ReadValue(entry.second, queue, *queue.GetDescriptor()->FindFieldByName("share"),
                item + ".share", share);
    }
  }

  void ReadValue(const YAML::Node& node, Message& message, const FieldDescriptor& field,
                 const std::string& field_path, const Place& place) {
    const auto& reflection = *message.GetReflection();
    if (field.type() == FieldDescriptor::TYPE_MESSAGE) {
      Message& part = field.is_repeated() ? *reflection.AddMessage(&message, &field)
                                          : *reflection.MutableMessage(&message, &field);
      if (field.message_type() == google::protobuf::Duration::descriptor()) {
        return ReadSeconds(node, static_cast<google::protobuf::Duration&>(part), place);
      }
      if (field.message_type() == google::protobuf::Timestamp::descriptor()) {
        return ReadInstant(node, static_cast<google::protobuf::Timestamp&>(part), place);
      }
      return ReadMap(node, part, field_path, place);
    }
    if (!node.IsScalar()) return Fail(place, WantedOf(field));
    const std::string& text = node.Scalar();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        if (field.is_repeated()) return reflection.AddString(&message, &field, text);
        return reflection.SetString(&message, &field, text);
      case FieldDescriptor::CPPTYPE_ENUM:
        return ReadEnum(text, message, field, place);
      case FieldDescriptor::CPPTYPE_DOUBLE: {
        double value = 0;
        if (!YAML::convert<double>::decode(node, value) || !std::isfinite(value)) {
          return Fail(place, "must be a finite number, not " + text);
        }
        return reflection.SetDouble(&message, &field, value);
      }
      case FieldDescriptor::CPPTYPE_UINT32: {
        const auto value = WholeNumber(node, place, std::numeric_limits<std::uint32_t>::max());
        return reflection.SetUInt32(&message, &field, static_cast<std::uint32_t>(value));
      }
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection.SetUInt64(&message, &field, WholeNumber(node, place, kWholeMax));
      default:
        return Fail(place, "cannot be set in a file");
    }
  }

  static const char* WantedOf(const FieldDescriptor& field) {
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) return "must be a number";
    return field.is_repeated() ? "must be a name or a list of names" : "must be text";
  }

  // Above this limit, doubles cannot represent all whole numbers.
  static constexpr std::uint64_t kWholeMax = std::uint64_t{1} << 53;

  std::uint64_t WholeNumber(const YAML::Node& node, const Place& place, std::uint64_t most) {
    double value = NAN;  // 4e9 is a whole number.
    if (YAML::convert<double>::decode(node, value) && value >= 0 &&
        value <= static_cast<double>(most) && std::floor(value) == value) {
      return static_cast<std::uint64_t>(value);
    }
    Fail(place, fmt::format("must be a whole number from 0 to {}, not {}", most, node.Scalar()));
    return 0;
  }

  void ReadSeconds(const YAML::Node& node, google::protobuf::Duration& message,
                   const Place& place) {
    double seconds = NAN;
    absl::Duration written;
    if (node.IsScalar() && !YAML::convert<double>::decode(node, seconds) &&
        absl::ParseDuration(node.Scalar(), &written)) {
      seconds = absl::ToDoubleSeconds(written);
    }
    if (seconds >= 0 && seconds <= kSecondsMax) {
      return tidemark::wire::EncodeDuration(absl::Seconds(seconds), message);
    }
    Fail(place, fmt::format("must be from 0 to {:.12g} seconds, or text such as 90s or 1h30m",
                            kSecondsMax));
  }

  // Requires a date, since a time of day would mean a different time on each day.
  void ReadInstant(const YAML::Node& node, google::protobuf::Timestamp& message,
                   const Place& place) {
    absl::Time at;
    std::string error;
    if (node.IsScalar() && absl::ParseTime(absl::RFC3339_full, node.Scalar(), &at, &error) &&
        at != absl::InfiniteFuture() && at != absl::InfinitePast()) {
      return tidemark::wire::EncodeTime(at, message);
    }
    Fail(place, "must be a timestamp such as 2026-11-26T07:30:00Z or 2026-11-26T08:30:00+01:00");
  }

  // Reads the short name of a value, such as "fifo" for SCHEDULING_POLICY_FIFO.
  void ReadEnum(const std::string& text, Message& message, const FieldDescriptor& field,
                const Place& place) {
    const auto& type = *field.enum_type();
    const std::string unknown = type.value(0)->name();
    const std::string prefix = unknown.substr(0, unknown.rfind("UNSPECIFIED"));
    std::vector<std::string> names;
    for (int i = 1; i < type.value_count(); ++i) {
      const std::string name = absl::AsciiStrToLower(type.value(i)->name().substr(prefix.size()));
      if (text == name || text == type.value(i)->name()) {
        return message.GetReflection()->SetEnum(&message, &field, type.value(i));
      }
      names.push_back(name);
    }
    const std::string meant = text::DidYouMean(text, names);
    const std::string last = names.back();
    names.pop_back();
    Fail(place,
         fmt::format("must be {} or {}, not {}{}", absl::StrJoin(names, ", "), last, text, meant));
  }

  std::map<std::string, Place> places_;  // by path in the message
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Plan> ParsePlanFile(const std::string& text, PlanUse use) {
  if (text.starts_with("TIDELOG")) {
    return absl::InvalidArgumentError(
        "is a Tidemark event log, not a plan; `tidemark replay` reads event logs");
  }
  if (text.starts_with(R"({"Event":)") || text.starts_with("Avro-")) {
    return absl::InvalidArgumentError(
        "is a log of Spark or Hadoop, not a plan; `tidemark replay`, `why` and `what-if` read it");
  }
  try {
    return Reader().Read(YAML::Load(text), use);
  } catch (const YAML::DeepRecursion& error) {
    return absl::InvalidArgumentError(
        fmt::format("line {}: nested too deeply for a plan", error.mark.line + 1));
  } catch (const YAML::Exception& error) {  // thrown by the library
    return absl::InvalidArgumentError(
        fmt::format("line {}: not valid YAML: {}", error.mark.line + 1, error.msg));
  }
}

absl::StatusOr<Plan> ReadPlanFile(const std::string& path, PlanUse use) {
  const absl::StatusOr<std::string> text = transport::ReadSmallFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<Plan> plan = ParsePlanFile(*text, use);
  if (plan.ok()) return plan;
  return absl::Status(plan.status().code(), absl::StrCat(path, ": ", plan.status().message()));
}

absl::Status InPlanFile(const std::string& path, const absl::Status& error) {
  std::string message(error.message());
  // A request contains the plan as `plan`, or its jobs as `add_jobs`.
  for (const std::string_view prefix : {"plan.", "add_"}) {
    if (message.starts_with(prefix)) message.erase(0, prefix.size());
  }
  const std::size_t end = message.find(": ");
  const std::string field = message.substr(0, end);
  const bool is_field = std::all_of(field.begin(), field.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || absl::StrContains("_.[]", c);
  });
  const auto text = transport::ReadSmallFile(path);
  if (!absl::IsInvalidArgument(error) || end == message.npos || !is_field || !text.ok()) {
    return error;
  }
  try {
    const absl::Status located =
        Reader().Locate(YAML::Load(*text), FieldError(field, message.substr(end + 2)));
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", located.message()));
  } catch (const YAML::Exception&) {  // The file has changed.
    return error;
  }
}

}  // namespace tidemark::cli
