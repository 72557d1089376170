#include "whatif/phases/settings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tidemark::phases {
namespace {

absl::Status Wrong(absl::string_view text, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not ", wanted));
}

// Returns the number, and its unit in lower case.
absl::StatusOr<std::pair<std::uint64_t, std::string>> SplitUnit(absl::string_view text,
                                                                absl::string_view wanted) {
  const std::string trimmed = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text));
  const std::size_t digits = std::min(trimmed.find_first_not_of("0123456789"), trimmed.size());
  std::uint64_t number = 0;
  if (!absl::SimpleAtoi(trimmed.substr(0, digits), &number)) return Wrong(text, wanted);
  return std::pair(number, trimmed.substr(digits));
}

constexpr double kMebibyte = 1 << 20;
constexpr std::uint32_t kExecutorsMax = 1'000'000;
constexpr std::uint32_t kCoresMax = 10'000;
constexpr std::uint32_t kPartitionsMax = 100'000'000;

// Reads settings by name until the first error.
class Reader {
 public:
  explicit Reader(const Properties& properties) : properties_(properties) {}

  template <typename Value, typename Parse>
  void Read(const char* name, Value& value, const Parse& parse) {
    const auto set = properties_.find(name);
    if (set == properties_.end() || !wrong_.ok()) return;
    auto parsed = parse(set->second);
    if (parsed.ok()) {
      value = static_cast<Value>(*std::move(parsed));
    } else {
      wrong_ = absl::InvalidArgumentError(absl::StrCat(name, ": ", parsed.status().message()));
    }
  }
  const absl::Status& wrong() const { return wrong_; }

 private:
  const Properties& properties_;
  absl::Status wrong_;
};

auto BytesIn(std::uint64_t unit) {
  return [unit](const std::string& text) { return ParseBytes(text, unit); };
}

auto UpTo(std::uint32_t most) {
  return [most](const std::string& text) { return ParseCount(text, most); };
}

// Returns 0 for "0", with which an application starts without executors and adds them later.
absl::StatusOr<std::uint32_t> ParseInstances(const std::string& text) {
  if (absl::StripAsciiWhitespace(text) == "0") return std::uint32_t{0};
  return ParseCount(text, kExecutorsMax);
}

// Returns 0 for a number below 1, with which Spark never bypasses the merge.
absl::StatusOr<std::uint32_t> ParseThreshold(const std::string& text) {
  std::int64_t number = 0;
  if (absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &number) && number < 1) {
    return std::uint32_t{0};
  }
  return ParseCount(text, kPartitionsMax);
}

// Returns true for the class of a shuffle manager that no model covers.
bool IsOtherManager(const std::string& text) {
  const std::string name = absl::AsciiStrToLower(text);
  return absl::StrContains(name, '.') && !absl::EndsWith(name, ".sortshufflemanager") &&
         !absl::EndsWith(name, ".hashshufflemanager");
}

// Parses the short name of a codec, or the name of its class.
absl::StatusOr<Codec> ParseCodec(const std::string& text) {
  const std::string name = absl::AsciiStrToLower(text);
  constexpr std::pair<const char*, Codec> kCodecs[] = {{"lz4", Codec::kLz4},
                                                       {"lzf", Codec::kLzf},
                                                       {"snappy", Codec::kSnappy},
                                                       {"zstd", Codec::kZstd},
                                                       {"zstandard", Codec::kZstd}};
  for (const auto& [known, codec] : kCodecs) {
    if (name == known || absl::EndsWith(name, absl::StrCat(".", known, "compressioncodec"))) {
      return codec;
    }
  }
  if (absl::StrContains(name, '.')) return Codec::kOther;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not lz4, lzf, snappy, zstd or the name of a class"));
}

absl::StatusOr<Serializer> ParseSerializer(const std::string& text) {
  if (absl::EndsWith(text, ".JavaSerializer")) return Serializer::kJava;
  if (absl::EndsWith(text, ".KryoSerializer")) return Serializer::kKryo;
  if (absl::StrContains(text, '.')) return Serializer::kOther;
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not the name of a class"));
}

absl::StatusOr<ShuffleManager> ParseManager(const std::string& text, const Version& version) {
  const std::string name = absl::AsciiStrToLower(text);
  if (name == "sort" || absl::EndsWith(name, ".sortshufflemanager")) return ShuffleManager::kSort;
  if (name == "tungsten-sort") {
    return version < Version{1, 6} ? ShuffleManager::kTungsten : ShuffleManager::kSort;
  }
  if (name == "hash" || absl::EndsWith(name, ".hashshufflemanager")) {
    if (version < Version{2, 0}) return ShuffleManager::kHash;
    return absl::InvalidArgumentError("Spark removed the hash manager in 2.0; use sort");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("shuffle manager \"", text, "\" is not modelled; use sort"));
}

absl::StatusOr<double> ParseAmount(const std::string& text) {
  double amount = 0;
  if (absl::SimpleAtod(absl::StripAsciiWhitespace(text), &amount) && amount >= kAmountLeast &&
      amount <= 1e9) {
    return amount;
  }
  return Wrong(text, "a number from 1e-6 to 1e9");
}

// Limits the tasks of an executor by the resources that each task needs. If an executor's amount is
// unknown, it is no limit.
absl::Status LimitByResources(Reader& reader, const Properties& properties, Settings& settings) {
  for (const auto& [name, text] : properties) {
    const auto resource = ResourceIn(name);
    if (!resource || !resource->is_of_task) continue;
    double of_task = 0;
    double of_executor = 0;
    reader.Read(name.c_str(), of_task, ParseAmount);
    const std::string other = absl::StrCat("spark.executor.resource.", resource->name, ".amount");
    reader.Read(other.c_str(), of_executor, ParseAmount);
    if (!reader.wrong().ok()) return reader.wrong();
    if (!(of_executor > 0)) continue;
    const double tasks = TasksByResource(of_executor, of_task);
    if (tasks < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, ": ", of_task, " exceeds the ", of_executor, " of an executor; no task could run"));
    }
    const bool is_limited = settings.at_once_max > 0;
    settings.at_once_max = is_limited ? std::min(settings.at_once_max, tasks) : tasks;
  }
  return absl::OkStatus();
}

absl::Status SetExecutors(Reader& reader, const ObservedExecutors& seen, Settings& settings) {
  settings.executors = settings.executor_cores = 0;
  reader.Read("spark.executor.instances", settings.executors, ParseInstances);
  reader.Read("spark.executor.cores", settings.executor_cores, UpTo(kCoresMax));
  if (seen.count > 0) settings.executors = seen.count;
  if (seen.cores > 0) settings.executor_cores = seen.cores;
  settings.at_once_max = seen.at_once_max;
  reader.Read("spark.task.cpus", settings.task_cores, UpTo(kCoresMax));
  if (!reader.wrong().ok()) return reader.wrong();
  for (const auto& [count, name] : {std::pair(settings.executors, "spark.executor.instances"),
                                    std::pair(settings.executor_cores, "spark.executor.cores")}) {
    if (count == 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("the log of the run has no ", name,
                       " and no executor, so its cluster is unknown; use --slots"));
    }
  }
  if (settings.task_cores > settings.executor_cores) {
    return absl::InvalidArgumentError(absl::StrCat("spark.task.cpus: ", settings.task_cores,
                                                   " exceeds the ", settings.executor_cores,
                                                   " cores of an executor; no task could run"));
  }
  return absl::OkStatus();
}

absl::Status SetMemory(Reader& reader, Settings& settings) {
  const Version version = settings.version;
  settings.executor_memory_bytes =
      static_cast<double>((version < Version{1, 5} ? 512 : 1024) * kMib);
  settings.memory_fraction = version < Version{2, 0} ? 0.75 : 0.6;
  bool is_legacy = false;
  bool has_off_heap = false;
  double off_heap_bytes = 0;
  reader.Read("spark.executor.memory", settings.executor_memory_bytes, BytesIn(kMib));
  if (version >= Version{1, 6}) {
    reader.Read("spark.memory.fraction", settings.memory_fraction, ParseShare);
    reader.Read("spark.memory.storageFraction", settings.storage_fraction, ParseShare);
    reader.Read("spark.memory.offHeap.enabled", has_off_heap, ParseBool);
    reader.Read("spark.memory.offHeap.size", off_heap_bytes, BytesIn(1));
    if (version < Version{3, 0}) reader.Read("spark.memory.useLegacyMode", is_legacy, ParseBool);
  }
  if (version < Version{1, 6} || is_legacy) {
    settings.memory_model = MemoryModel::kFractions;
    reader.Read("spark.shuffle.memoryFraction", settings.shuffle_fraction, ParseShare);
    reader.Read("spark.shuffle.safetyFraction", settings.safety_fraction, ParseShare);
  }
  if (has_off_heap) settings.off_heap_bytes = off_heap_bytes;
  if (!reader.wrong().ok()) return reader.wrong();
  const double least = settings.memory_model == MemoryModel::kUnified ? 1.5 * kReservedBytes : 1;
  if (settings.executor_memory_bytes < least) {
    return absl::InvalidArgumentError(
        absl::StrCat("spark.executor.memory: ", settings.executor_memory_bytes / kMebibyte,
                     " MiB are less than the ", least / kMebibyte,
                     " MiB that an executor needs to start; a number without a unit is in MiB"));
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<Resource> ResourceIn(absl::string_view setting) {
  Resource resource;
  resource.is_of_task = absl::ConsumePrefix(&setting, "spark.task.resource.");
  if (!resource.is_of_task && !absl::ConsumePrefix(&setting, "spark.executor.resource.")) {
    return std::nullopt;
  }
  if (!absl::ConsumeSuffix(&setting, ".amount") || setting.empty()) return std::nullopt;
  resource.name = std::string(setting);
  return resource;
}

double TasksByResource(double of_executor, double of_task) {
  constexpr double kRounding = 1e-9;  // tolerance for amounts such as 0.1
  if (of_task >= 1) return std::floor(of_executor / of_task + kRounding);
  const double units = std::floor(of_executor);
  return units < 1 ? 0 : units * std::floor(1 / of_task + kRounding);
}

bool IsModelled(absl::string_view setting) {
  const std::vector<const char*>& names = ModelledProperties();
  return std::find(names.begin(), names.end(), setting) != names.end() ||
         ResourceIn(setting).has_value();
}

const std::vector<const char*>& ModelledProperties() {
  static const auto* const names =
      new std::vector<const char*>{"spark.executor.instances",
                                   "spark.executor.cores",
                                   "spark.task.cpus",
                                   "spark.executor.memory",
                                   "spark.memory.fraction",
                                   "spark.memory.storageFraction",
                                   "spark.memory.offHeap.enabled",
                                   "spark.memory.offHeap.size",
                                   "spark.memory.useLegacyMode",
                                   "spark.shuffle.memoryFraction",
                                   "spark.shuffle.safetyFraction",
                                   "spark.shuffle.spill",
                                   "spark.shuffle.manager",
                                   "spark.shuffle.sort.bypassMergeThreshold",
                                   "spark.shuffle.compress",
                                   "spark.shuffle.spill.compress",
                                   "spark.io.compression.codec",
                                   "spark.serializer",
                                   "spark.sql.shuffle.partitions",
                                   "spark.default.parallelism"};
  return *names;
}

double Settings::tasks_at_once() const {
  const double by_cores = executor_cores / std::max(task_cores, 1U);
  return std::max(at_once_max > 0 ? std::min(by_cores, at_once_max) : by_cores, 1.0);
}

double Settings::slots() const {
  const bool is_limited = at_once_max > 0 && at_once_max < 1;
  return std::max(std::round(executors * (is_limited ? at_once_max : tasks_at_once())), 1.0);
}

absl::StatusOr<Version> ParseVersion(absl::string_view text) {
  const auto number = [&text](int& value) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const bool is_number = digits <= 4 && absl::SimpleAtoi(text.substr(0, digits), &value);
    text.remove_prefix(digits);
    return is_number;
  };
  const absl::string_view whole = text;
  Version version;
  if (number(version.major) && absl::ConsumePrefix(&text, ".") && number(version.minor)) {
    return version;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", whole, "\" is not a Spark version, such as 3.5.1"));
}

absl::StatusOr<Settings> ParseSettings(absl::string_view version, const Properties& properties,
                                       const ObservedExecutors& seen) {
  Settings settings;
  const auto parsed = ParseVersion(version);
  if (!parsed.ok()) return parsed.status();
  settings.version = *parsed;
  Reader reader(properties);
  if (absl::Status wrong = SetExecutors(reader, seen, settings); !wrong.ok()) return wrong;
  if (absl::Status wrong = LimitByResources(reader, properties, settings); !wrong.ok())
    return wrong;
  if (absl::Status wrong = SetMemory(reader, settings); !wrong.ok()) return wrong;
  settings.codec = *parsed < Version{2, 0} ? Codec::kSnappy : Codec::kLz4;
  settings.shuffle_manager =
      *parsed < Version{1, 2} ? ShuffleManager::kHash : ShuffleManager::kSort;
  if (*parsed < Version{1, 6}) reader.Read("spark.shuffle.spill", settings.spills, ParseBool);
  reader.Read("spark.shuffle.manager", settings.shuffle_manager,
              [&](const std::string& text) { return ParseManager(text, *parsed); });
  reader.Read("spark.shuffle.sort.bypassMergeThreshold", settings.bypass_threshold, ParseThreshold);
  reader.Read("spark.shuffle.compress", settings.compresses_shuffle, ParseBool);
  reader.Read("spark.shuffle.spill.compress", settings.compresses_spills, ParseBool);
  reader.Read("spark.io.compression.codec", settings.codec, ParseCodec);
  reader.Read("spark.serializer", settings.serializer, ParseSerializer);
  reader.Read("spark.sql.shuffle.partitions", settings.sql_partitions, UpTo(kPartitionsMax));
  reader.Read("spark.default.parallelism", settings.default_partitions, UpTo(kPartitionsMax));
  if (!reader.wrong().ok()) return reader.wrong();
  return settings;
}

absl::StatusOr<RunSettings> ParseRunSettings(absl::string_view version,
                                             const Properties& properties,
                                             const ObservedExecutors& seen) {
  RunSettings run = {.modelled = properties};
  for (;;) {
    auto settings = ParseSettings(version, run.modelled, seen);
    if (settings.ok()) {
      run.settings = *std::move(settings);
      return run;
    }
    const std::string name(
        settings.status().message().substr(0, settings.status().message().find(':')));
    const auto wrong = run.modelled.find(name);
    if (!absl::IsInvalidArgument(settings.status()) || wrong == run.modelled.end()) {
      return settings.status();
    }
    run.remarks.push_back(absl::StrCat(name, "=", wrong->second,
                                       " of the run is not modelled; its default is used instead"));
    run.modelled.erase(wrong);
  }
}

std::string ReasonNotModelled(const std::string& name, const std::string& value) {
  if (name == "spark.executor.instances" && absl::StripAsciiWhitespace(value) == "0") {
    return "dynamic allocation sets the number of executors; the estimate uses the executors of "
           "the run";
  }
  if (name == "spark.sql.shuffle.partitions" &&
      absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(value), "auto")) {
    return "automatic partitions are not modelled; all stages keep their numbers of tasks";
  }
  if (name == "spark.shuffle.manager" && IsOtherManager(value)) {
    return "this shuffle manager is not modelled; the estimate uses the manager of the run";
  }
  return "";
}

double SpillBufferBytes(const Settings& settings, double cached_bytes) {
  if (settings.memory_model == MemoryModel::kFractions) {
    return settings.executor_memory_bytes * settings.shuffle_fraction * settings.safety_fraction *
           settings.task_cores / settings.executor_cores;
  }
  const double shared =
      std::max(settings.executor_memory_bytes - kReservedBytes, 0.0) * settings.memory_fraction +
      settings.off_heap_bytes;
  const double cached = std::clamp(cached_bytes, 0.0, shared * settings.storage_fraction);
  return (shared - cached) / settings.tasks_at_once();
}

absl::StatusOr<std::uint64_t> ParseBytes(absl::string_view text, std::uint64_t unit) {
  constexpr absl::string_view kWanted = "a size such as 512m or 4g, a whole number";
  const auto split = SplitUnit(text, kWanted);
  if (!split.ok()) return split.status();
  std::string suffix = split->second;
  if (suffix.size() == 2 && suffix[1] == 'b') suffix.pop_back();
  if (suffix == "b") {
    unit = 1;
  } else if (!suffix.empty()) {
    constexpr absl::string_view kUnits = "kmgtp";
    const std::size_t power = kUnits.find(suffix);
    if (suffix.size() != 1 || power == kUnits.npos) return Wrong(text, kWanted);
    unit = std::uint64_t{1} << (10 * (power + 1));
  }
  if (unit != 0 && split->first > std::numeric_limits<std::int64_t>::max() / unit) {
    return Wrong(text, "a size below 8 EiB");
  }
  return split->first * unit;
}

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text, absl::Duration unit) {
  constexpr absl::string_view kWanted = "a time such as 500ms or 3s, a whole number";
  const auto split = SplitUnit(text, kWanted);
  if (!split.ok()) return split.status();
  const std::string& suffix = split->second;
  if (suffix == "us") {
    unit = absl::Microseconds(1);
  } else if (suffix == "ms") {
    unit = absl::Milliseconds(1);
  } else if (suffix == "s") {
    unit = absl::Seconds(1);
  } else if (suffix == "m" || suffix == "min") {
    unit = absl::Minutes(1);
  } else if (suffix == "h") {
    unit = absl::Hours(1);
  } else if (suffix == "d") {
    unit = absl::Hours(24);
  } else if (!suffix.empty()) {
    return Wrong(text, kWanted);
  }
  // A longer time is assumed to be a typing error.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 52;
  if (split->first > kMost || split->first * unit > absl::Hours(24 * 36525)) {
    return Wrong(text, "a time below 100 years");
  }
  return static_cast<std::int64_t>(split->first) * unit;
}

absl::StatusOr<bool> ParseBool(absl::string_view text) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(text);
  if (absl::EqualsIgnoreCase(trimmed, "true")) return true;
  if (absl::EqualsIgnoreCase(trimmed, "false")) return false;
  return Wrong(text, "true or false");
}

absl::StatusOr<std::uint32_t> ParseCount(absl::string_view text, std::uint32_t most) {
  std::uint32_t count = 0;
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &count) || count == 0 || count > most) {
    return Wrong(text, absl::StrCat("a whole number from 1 to ", most));
  }
  return count;
}

absl::StatusOr<double> ParseShare(absl::string_view text) {
  double share = 0;
  if (!absl::SimpleAtod(absl::StripAsciiWhitespace(text), &share) || !(share >= 0 && share <= 1)) {
    return Wrong(text, "a number from 0 to 1");
  }
  return share;
}

}  // namespace tidemark::phases
