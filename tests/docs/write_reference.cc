// Prints the pages of docs/reference from the tables of the program:
//
//   tidemark_write_reference settings | metrics | messages DESCRIPTORS
//
// DESCRIPTORS is the output of `protoc --include_imports --include_source_info -o`.
#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "serve/config/settings.h"
#include "serve/metrics.h"

namespace tidemark::docs {
namespace {

namespace pb = google::protobuf;

void Title(std::string_view title, std::string_view what) {
  fmt::print(
      "# {}\n\n{}\n\n`tidemark_write_reference` makes this page, and a test compares it with the "
      "code.\n",
      title, what);
}

// Returns the text for a cell of a table: one line with single spaces.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    if (!cell.empty()) cell += ' ';
    cell += absl::StrReplaceAll(word, {{"|", "\\|"}});
  }
  return cell;
}

void WriteSettings() {
  Title("Settings",
        "This page lists the settings of `tidemark serve --config FILE` and `--set`; "
        "[serve.md](../serve.md) describes their use.");
  fmt::print("\n| setting | default | allowed |\n|---|---|---|\n");
  serve::ServeConfig defaults;
  for (const serve::Setting& setting : serve::AllSettings()) {
    const std::string value = setting.show(defaults);
    fmt::print("| `{}` | {} | {} |\n", setting.key, value.empty() ? "none" : Cell(value),
               Cell(setting.allowed));
  }
}

std::string_view Name(prometheus::MetricType type) {
  switch (type) {
    case prometheus::MetricType::Counter:
      return "counter";
    case prometheus::MetricType::Gauge:
      return "gauge";
    case prometheus::MetricType::Histogram:
      return "histogram";
    default:
      return "other";
  }
}

void WriteMetrics() {
  Title("Metrics",
        "This page lists the metrics at `/metrics` of `metrics.listen`, in Prometheus format; "
        "[serve.md](../serve.md#6-watch-the-master) describes their use.");
  fmt::print("\n| metric | kind | meaning |\n|---|---|---|\n");
  for (const prometheus::MetricFamily& family : serve::MetricFamilies({}, {})) {
    fmt::print("| `{}` | {} | {} |\n", family.name, Name(family.type), Cell(family.help));
  }
}

template <typename Descriptor>
std::string Comment(const Descriptor& of) {
  pb::SourceLocation location;
  return of.GetSourceLocation(&location)
             ? Cell(location.leading_comments + location.trailing_comments)
             : "";
}

std::string TypeOf(const pb::FieldDescriptor& field) {
  std::string type = field.type_name();
  if (const pb::Descriptor* message = field.message_type()) type = message->full_name();
  if (const pb::EnumDescriptor* choices = field.enum_type()) type = choices->full_name();
  return field.is_repeated() ? "repeated " + type : type;
}

void WriteEnum(const pb::EnumDescriptor& choices) {
  fmt::print("\n### {}\n\n{}\n\n| value | number | meaning |\n|---|---|---|\n", choices.name(),
             Comment(choices));
  for (int i = 0; i < choices.value_count(); ++i) {
    const pb::EnumValueDescriptor& value = *choices.value(i);
    fmt::print("| `{}` | {} | {} |\n", value.name(), value.number(), Comment(value));
  }
}

void WriteMessage(const pb::Descriptor& message) {
  if (message.options().map_entry()) return;
  fmt::print("\n### {}\n\n{}\n", message.name(), Comment(message));
  if (message.field_count() > 0)
    fmt::print("\n| field | number | type | meaning |\n|---|---|---|---|\n");
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    fmt::print("| `{}` | {} | {} | {} |\n", field.name(), field.number(), TypeOf(field),
               Comment(field));
  }
  for (int i = 0; i < message.nested_type_count(); ++i) WriteMessage(*message.nested_type(i));
  for (int i = 0; i < message.enum_type_count(); ++i) WriteEnum(*message.enum_type(i));
}

void WriteFile(const pb::FileDescriptor& file) {
  fmt::print("\n## {}\n", file.name());
  for (int i = 0; i < file.service_count(); ++i) {
    const pb::ServiceDescriptor& service = *file.service(i);
    fmt::print("\n### {}\n\n{}\n\n| call | request | response | meaning |\n|---|---|---|---|\n",
               service.name(), Comment(service));
    for (int k = 0; k < service.method_count(); ++k) {
      const pb::MethodDescriptor& method = *service.method(k);
      fmt::print("| `{}` | {}{} | {}{} | {} |\n", method.name(),
                 method.client_streaming() ? "stream " : "", method.input_type()->name(),
                 method.server_streaming() ? "stream " : "", method.output_type()->name(),
                 Comment(method));
    }
  }
  for (int i = 0; i < file.message_type_count(); ++i) WriteMessage(*file.message_type(i));
  for (int i = 0; i < file.enum_type_count(); ++i) WriteEnum(*file.enum_type(i));
}

bool WriteMessages(const std::string& descriptors) {
  pb::FileDescriptorSet set;
  std::ifstream in(descriptors, std::ios::binary);
  if (!set.ParseFromIstream(&in)) return false;
  Title("Messages",
        "This page lists the gRPC messages of a master; [api.md](../api.md) describes their use.");
  pb::DescriptorPool pool;
  for (const pb::FileDescriptorProto& proto : set.file()) {
    const pb::FileDescriptor* const file = pool.BuildFile(proto);
    if (file == nullptr) return false;
    if (file->package() == "tidemark.v1") WriteFile(*file);
  }
  return true;
}

int Write(const std::string& page, const std::string& descriptors) {
  if (page == "settings") {
    WriteSettings();
  } else if (page == "metrics") {
    WriteMetrics();
  } else if (page != "messages" || !WriteMessages(descriptors)) {
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace tidemark::docs

int main(int argc, char** argv) {
  return tidemark::docs::Write(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
}
