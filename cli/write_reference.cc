// Prints the pages of docs/reference, from what the program itself goes by:
//
//   tidemark_write_reference settings | metrics | messages PROTO_FOLDER
#include <fmt/format.h>
#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "cli/config/settings.h"
#include "cli/metrics_families.h"

namespace tidemark::cli {
namespace {

namespace pb = google::protobuf;

void Title(std::string_view title, std::string_view what) {
  fmt::print("# {}\n\n{}\n\nMade by `tidemark_write_reference`; a test compares.\n", title, what);
}

// Within a cell of a table.
std::string Cell(std::string text) {
  std::string cell;
  for (const char c : text) cell += c == '\n' ? " " : c == '|' ? "\\|" : std::string(1, c);
  return cell.substr(0, cell.find_last_not_of(' ') + 1);
}

void WriteSettings() {
  Title("Settings",
        "Of `tidemark serve --config FILE` and `--set`; what they do is in [serve.md](../serve.md) "
        "and "
        "[alerts.md](../alerts.md).");
  fmt::print("\n| setting | default | allowed |\n|---|---|---|\n");
  ServeConfig defaults;
  for (const Setting& setting : AllSettings()) {
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
        "At `/metrics` of `metrics.listen`, for Prometheus; more about them is in "
        "[serve.md](../serve.md#what-to-watch).");
  fmt::print("\n| metric | kind | what |\n|---|---|---|\n");
  for (const prometheus::MetricFamily& family : MetricFamilies({}, {})) {
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
  fmt::print("\n### {}\n\n{}\n\n| value | number | what |\n|---|---|---|\n", choices.name(),
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
    fmt::print("\n| field | number | type | what |\n|---|---|---|---|\n");
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
    fmt::print("\n### {}\n\n{}\n\n| call | takes | gives | what |\n|---|---|---|---|\n",
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

class Complaints final : public pb::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& file, int line, int, const std::string& what) override {
    fmt::print(stderr, "{}:{}: {}\n", file, line + 1, what);
  }
};

bool WriteMessages(const std::string& folder) {
  Title("Messages",
        "What is said to a master and by it, over gRPC: [api.md](../api.md) explains how.");
  pb::compiler::DiskSourceTree tree;
  tree.MapPath("", folder);
  tree.MapPath("", "/usr/include");
  Complaints complaints;
  pb::compiler::Importer importer(&tree, &complaints);
  for (const char* name :
       {"ingest_service", "event", "job_service", "job", "plan", "explain_service"}) {
    const pb::FileDescriptor* file = importer.Import(fmt::format("tidemark/v1/{}.proto", name));
    if (file == nullptr) return false;
    WriteFile(*file);
  }
  return true;
}

int Write(const std::string& page, const std::string& folder) {
  if (page == "settings") {
    WriteSettings();
  } else if (page == "metrics") {
    WriteMetrics();
  } else if (page != "messages" || !WriteMessages(folder)) {
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace tidemark::cli

int main(int argc, char** argv) {
  return tidemark::cli::Write(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
}
