#include "master/phases/settings.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "master/phases/memory.h"
#include "master/phases/quantity.h"

namespace tidemark::phases {
namespace {

constexpr double kMebibyte = 1 << 20;
constexpr std::uint32_t kExecutorsMax = 1'000'000;
constexpr std::uint32_t kCoresMax = 10'000;
constexpr std::uint32_t kPartitionsMax = 100'000'000;

// Reads settings by name until one is wrong.
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

// By its short name or that of its class.
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
    return absl::InvalidArgumentError("the hash manager is gone since Spark 2.0; take sort");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("what the shuffle manager \"", text, "\" does is not known; known is sort"));
}

absl::Status SetExecutors(Reader& reader, const SeenExecutors& seen, Settings& settings) {
  settings.executors = settings.executor_cores = 0;
  reader.Read("spark.executor.instances", settings.executors, UpTo(kExecutorsMax));
  reader.Read("spark.executor.cores", settings.executor_cores, UpTo(kCoresMax));
  if (seen.count > 0) settings.executors = seen.count;
  if (seen.cores > 0) settings.executor_cores = seen.cores;
  reader.Read("spark.task.cpus", settings.task_cores, UpTo(kCoresMax));
  if (!reader.wrong().ok()) return reader.wrong();
  for (const auto& [count, name] : {std::pair(settings.executors, "spark.executor.instances"),
                                    std::pair(settings.executor_cores, "spark.executor.cores")}) {
    if (count == 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the log of the run has no ", name, " and no executor: what it ran on is not known"));
    }
  }
  if (settings.task_cores > settings.executor_cores) {
    return absl::InvalidArgumentError(absl::StrCat("spark.task.cpus: ", settings.task_cores,
                                                   " is more than the ", settings.executor_cores,
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
                     " MiB that an executor needs to start; a number without a unit is of MiB"));
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<const char*>& PropertiesOfUse() {
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
  return std::max<double>(executor_cores / std::max(task_cores, 1U), 1);
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
      absl::StrCat("\"", whole, "\" is not a version of Spark such as 3.5.1"));
}

absl::StatusOr<Settings> ParseSettings(absl::string_view version, const Properties& properties,
                                       const SeenExecutors& seen) {
  Settings settings;
  const auto parsed = ParseVersion(version);
  if (!parsed.ok()) return parsed.status();
  settings.version = *parsed;
  Reader reader(properties);
  if (absl::Status wrong = SetExecutors(reader, seen, settings); !wrong.ok()) return wrong;
  if (absl::Status wrong = SetMemory(reader, settings); !wrong.ok()) return wrong;
  settings.codec = *parsed < Version{2, 0} ? Codec::kSnappy : Codec::kLz4;
  settings.shuffle_manager =
      *parsed < Version{1, 2} ? ShuffleManager::kHash : ShuffleManager::kSort;
  if (*parsed < Version{1, 6}) reader.Read("spark.shuffle.spill", settings.spills, ParseBool);
  reader.Read("spark.shuffle.manager", settings.shuffle_manager,
              [&](const std::string& text) { return ParseManager(text, *parsed); });
  reader.Read("spark.shuffle.sort.bypassMergeThreshold", settings.bypass_threshold,
              UpTo(kPartitionsMax));
  reader.Read("spark.shuffle.compress", settings.compresses_shuffle, ParseBool);
  reader.Read("spark.shuffle.spill.compress", settings.compresses_spills, ParseBool);
  reader.Read("spark.io.compression.codec", settings.codec, ParseCodec);
  reader.Read("spark.serializer", settings.serializer, ParseSerializer);
  reader.Read("spark.sql.shuffle.partitions", settings.sql_partitions, UpTo(kPartitionsMax));
  reader.Read("spark.default.parallelism", settings.default_partitions, UpTo(kPartitionsMax));
  if (!reader.wrong().ok()) return reader.wrong();
  return settings;
}

}  // namespace tidemark::phases
