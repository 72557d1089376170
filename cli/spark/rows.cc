#include "cli/spark/rows.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "text/counted.h"
#include "whatif/phases/quantity.h"

namespace tidemark::cli {
namespace {

constexpr double kRowsMax = 1000;

constexpr char kInstances[] = "spark.executor.instances";
constexpr char kCores[] = "spark.executor.cores";
constexpr char kMemory[] = "spark.executor.memory";
constexpr char kCompress[] = "spark.shuffle.compress";
constexpr char kSqlPartitions[] = "spark.sql.shuffle.partitions";
constexpr char kDefaultPartitions[] = "spark.default.parallelism";

absl::Status SaidTwice(const std::string& one, const std::string& other, const char* what) {
  return absl::InvalidArgumentError(
      fmt::format("{} and {} both say {}; leave one of them out", one, other, what));
}

struct Option {
  const char* name;
  bool is_given;
  std::vector<const char*> settings;  // that it changes
};

std::string ConfOf(const std::string& setting, const std::string& value) {
  return fmt::format("--conf {}={}", setting, value);
}

std::vector<Option> OptionsIn(const WhatIfArguments& arguments) {
  return {{"--executors", !arguments.executors.empty(), {kInstances}},
          {"--cores", !arguments.cores.empty(), {kCores}},
          {"--memory", !arguments.memory.empty(), {kMemory}},
          {"--compress", !arguments.compress.empty(), {kCompress}},
          {"--partitions", !arguments.partitions.empty(), {kSqlPartitions, kDefaultPartitions}}};
}

// An option beside --conf of the setting that it stands for.
absl::Status CheckOptions(const WhatIfArguments& arguments) {
  for (const Option& option : OptionsIn(arguments)) {
    for (const char* setting : option.settings) {
      const auto conf = arguments.settings.find(setting);
      if (!option.is_given || conf == arguments.settings.end()) continue;
      return SaidTwice(option.name, ConfOf(setting, conf->second), setting);
    }
  }
  return absl::OkStatus();
}

// Slots are executors times their cores.
absl::Status CheckSlots(const WhatIfArguments& arguments) {
  if (arguments.slots.empty()) return absl::OkStatus();
  constexpr char kWhat[] = "how many tasks run at once";
  if (!arguments.cores.empty()) return SaidTwice("--slots", "--cores", kWhat);
  for (const char* setting : {kInstances, kCores, "spark.task.cpus"}) {
    const auto conf = arguments.settings.find(setting);
    if (conf != arguments.settings.end()) {
      return SaidTwice("--slots", ConfOf(setting, conf->second), kWhat);
    }
  }
  return absl::OkStatus();
}

// Each of `rows` with each of `values`, which `set` puts in.
template <typename Value, typename Set>
std::vector<SparkRow> Combined(const std::vector<SparkRow>& rows, const std::vector<Value>& values,
                               const Set& set) {
  if (values.empty()) return rows;
  std::vector<SparkRow> combined;
  for (const SparkRow& row : rows) {
    for (const Value& value : values) {
      combined.push_back(row);
      set(value, combined.back());
    }
  }
  return combined;
}

// How to put in a number of something.
auto Number(std::vector<const char*> settings, const char* noun) {
  return [settings = std::move(settings), noun](std::uint32_t value, SparkRow& row) {
    for (const char* setting : settings) row.settings[setting] = std::to_string(value);
    row.parts.push_back(text::Counted(value, noun));
  };
}

// A value that stands twice, in whatever units. What is no size is refused with its row.
absl::Status CheckMemory(const WhatIfArguments& arguments) {
  std::map<std::uint64_t, std::string> seen;
  for (const std::string& value : arguments.memory) {
    const auto bytes = phases::ParseBytes(value, phases::kMib);
    if (!bytes.ok()) continue;
    const auto [same, is_new] = seen.try_emplace(*bytes, value);
    if (is_new) continue;
    return absl::InvalidArgumentError(
        fmt::format("--memory: {} and {} are the same size; leave one out", same->second, value));
  }
  return absl::OkStatus();
}

double Combinations(const WhatIfArguments& arguments) {
  double count = 1;
  for (const std::size_t values :
       {arguments.executors.size(), arguments.cores.size(), arguments.memory.size(),
        arguments.partitions.size(), arguments.compress.size(), arguments.data.size()}) {
    if (values > 0) count *= static_cast<double>(values);
  }
  return count;
}

}  // namespace

absl::Status InOptions(const absl::Status& status, const WhatIfArguments& arguments) {
  const std::string message(status.message());
  for (const Option& option : OptionsIn(arguments)) {
    for (const char* name : option.settings) {
      const std::string setting = name;
      if (!option.is_given || !message.starts_with(setting + ": ")) continue;
      return absl::Status(status.code(), option.name + message.substr(setting.size()));
    }
  }
  return status;
}

absl::StatusOr<std::vector<SparkRow>> RowsOf(const WhatIfArguments& arguments) {
  if (absl::Status once = CheckOptions(arguments); !once.ok()) return once;
  if (absl::Status once = CheckSlots(arguments); !once.ok()) return once;
  if (!arguments.data.empty() && arguments.data_factor) {
    return SaidTwice("--data", "--data-factor", "how many times the data");
  }
  if (const double count = Combinations(arguments); count > kRowsMax) {
    return absl::InvalidArgumentError(
        fmt::format("{:.0f} combinations of settings; ask for at most {:.0f}", count, kRowsMax));
  }
  if (absl::Status once = CheckMemory(arguments); !once.ok()) return once;
  std::vector<SparkRow> rows(1);
  rows = Combined(rows, arguments.executors, Number({kInstances}, "executor"));
  rows = Combined(rows, arguments.cores, Number({kCores}, "core"));
  rows = Combined(rows, arguments.memory, [](const std::string& value, SparkRow& row) {
    row.settings[kMemory] = value;
    row.parts.push_back(value + " memory");
  });
  rows = Combined(rows, arguments.partitions,
                  Number({kSqlPartitions, kDefaultPartitions}, "partition"));
  rows = Combined(rows, arguments.compress, [](const std::string& value, SparkRow& row) {
    row.settings[kCompress] = value;
    row.parts.emplace_back(value == "true" ? "compressed" : "not compressed");
  });
  rows = Combined(rows, arguments.data, [](double value, SparkRow& row) {
    row.data_factor = value;
    row.parts.push_back(fmt::format("{:g}x data", value));
  });
  for (SparkRow& row : rows) {
    for (const auto& [name, value] : arguments.parameters) {
      row.parts.push_back(fmt::format("{}={}", name, value));
    }
    for (const auto& [name, value] : arguments.settings) {
      row.settings[name] = value;
      row.parts.push_back(fmt::format("{}={}", name, value));
    }
  }
  return rows;
}

}  // namespace tidemark::cli
