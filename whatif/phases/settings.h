// The settings of a Spark application that determine the work and the time of its tasks ([SPM]
// Table 5, and later settings).
//
//   const auto settings = ParseSettings("3.5.1", {{"spark.executor.memory", "4g"}}, {.count = 4,
//                                       .cores = 8});
//
// A missing setting has its default in that version of Spark, according to the history of Spark's
// documentation. Thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tidemark::phases {

struct Version {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

// Parses versions such as "3.5.1", "4.0.0-preview2" or "2.4.7.dev". Fails with InvalidArgument if
// the text does not start with two numbers.
absl::StatusOr<Version> ParseVersion(absl::string_view text);

// How an executor's memory is divided.
enum class MemoryModel : std::uint8_t {
  // Shuffles have a fixed share, divided equally among tasks ([SPM] eq. 19). Used before 1.6, and
  // until 3.0 with spark.memory.useLegacyMode.
  kFractions,
  // Shuffles use the memory that cached data do not use, divided among the running tasks. Used
  // since 1.6.
  kUnified,
};

enum class ShuffleManager : std::uint8_t {
  kSort,
  kHash,      // until 2.0
  kTungsten,  // serialized shuffle of 1.4 and 1.5; part of kSort in later versions
};

enum class Codec : std::uint8_t { kLz4, kLzf, kSnappy, kZstd, kOther };
enum class Serializer : std::uint8_t { kJava, kKryo, kOther };

// Names in brackets are from the paper.
struct Settings {
  Version version;
  std::uint32_t executors = 1;       // [pNumExec]
  std::uint32_t executor_cores = 1;  // per executor [pExecCores]
  std::uint32_t task_cores = 1;      // [pTaskCpus]
  double executor_memory_bytes = 0;  // heap [pExecMem]
  double off_heap_bytes = 0;         // for execution and storage; 0 if none
  MemoryModel memory_model = MemoryModel::kUnified;
  double shuffle_fraction = 0.2;  // kFractions [pShuffleMemFrac]
  double safety_fraction = 0.8;   // kFractions [pShuffleSafeFrac]
  double memory_fraction = 0.6;   // kUnified: share of the unreserved heap
  double storage_fraction = 0.5;  // kUnified: share of that memory for cached data
  ShuffleManager shuffle_manager = ShuffleManager::kSort;  // [pShuffleManager]
  std::uint32_t bypass_threshold = 200;                    // [pBypassThreshold]
  bool spills = true;                                      // [pIsSpill]; always true since 1.6
  bool compresses_shuffle = true;                          // [pIsShuffleCompress]
  bool compresses_spills = true;                           // [pIsSpillCompress]
  Codec codec = Codec::kLz4;                               // [pCompressor]
  Serializer serializer = Serializer::kJava;               // [pSerializer]
  std::uint32_t sql_partitions = 200;                      // partitions of shuffles in SQL
  std::uint32_t default_partitions = 0;  // partitions of other shuffles; 0 if the program decides
  // Limit of concurrent tasks per executor by resources other than cores, such as GPUs or licences.
  // 0 if there is no such limit.
  double at_once_max = 0;
  friend bool operator==(const Settings&, const Settings&) = default;

  // Returns the number of tasks that an executor runs at once; at least 1.
  double tasks_at_once() const;
  // Returns the number of tasks that all executors run at once; at least 1.
  double slots() const;
  // Returns the number of cores of all executors.
  double cores() const { return static_cast<double>(executors) * executor_cores; }
};

// Executors as shown by the application's events. 0 if unknown, or if the settings decide instead.
struct ObservedExecutors {
  std::uint32_t count = 0;
  std::uint32_t cores = 0;  // per executor
  double at_once_max = 0;   // tasks per executor, as in Settings
};

// Values by setting name. Unknown names are ignored.
using Properties = std::map<std::string, std::string>;

// A resource other than cores, such as "gpu".
struct Resource {
  std::string name;
  bool is_of_task = false;  // of a task if true, of an executor otherwise
};
// Returns the resource of a setting such as spark.task.resource.gpu.amount, or nullopt for other
// settings.
std::optional<Resource> ResourceIn(absl::string_view setting);
// Smallest accepted amount of a resource, far below what Spark's users set.
inline constexpr double kAmountLeast = 1e-6;
// Returns the number of tasks for which an executor has enough of the resource. Tasks share a unit
// if they need at most half of it. REQUIRES: both amounts are positive.
double TasksByResource(double of_executor, double of_task);

// Returns the names of the settings that the models use, except amounts of resources.
const std::vector<const char*>& ModelledProperties();
// Returns true for the names of ModelledProperties() and for amounts of resources.
bool IsModelled(absl::string_view setting);

// Parses settings. `seen` takes precedence over `properties`. Fails with InvalidArgument, which
// names the setting, its value and the expected form. Fails with FailedPrecondition if the number
// of executors or cores is unknown.
absl::StatusOr<Settings> ParseSettings(absl::string_view version, const Properties& properties,
                                       const ObservedExecutors& seen);

struct RunSettings {
  Settings settings;
  Properties modelled;  // properties, unless `remarks` name them
  std::vector<std::string> remarks;
};

// Parses the settings of a past run. Spark accepted all of them, so a value that ParseSettings()
// rejects is replaced by its default and named in a remark. Returns other errors of
// ParseSettings().
absl::StatusOr<RunSettings> ParseRunSettings(absl::string_view version,
                                             const Properties& properties,
                                             const ObservedExecutors& seen);

// Returns a remark on the effect of a value that Spark allows but no model covers, or "" for other
// values.
std::string ReasonNotModelled(const std::string& name, const std::string& value);

// Memory that an executor reserves since 1.6. An executor does not start with less than 1.5 times
// this size. Source: Spark's UnifiedMemoryManager. bytes
inline constexpr double kReservedBytes = 300.0 * 1024 * 1024;

// Returns the memory in which a task gathers the records of a shuffle before it spills, while its
// executor is full. bytes, at least 0 [dSpillBufferSize]
//
//     kFractions  memory x shuffle fraction x safety fraction x task cores / cores    [SPM] eq. 19
//     kUnified    ((memory - 300 MiB) x memory fraction + off heap - cached) / tasks at once
//
// `cached_bytes` counts up to the storage fraction, since execution evicts further cached data.
// With kUnified, a task may get only half of the result while other tasks run, and more while fewer
// tasks run.
double SpillBufferBytes(const Settings& settings, double cached_bytes = 0);

// Values of settings in Spark's notation: "48m", "10s", "true". Case and surrounding blanks do not
// matter. InvalidArgument errors name the value and the expected form; the caller adds the name of
// the setting.

inline constexpr std::uint64_t kKib = 1024;
inline constexpr std::uint64_t kMib = 1024 * kKib;

// Parses a whole number with a unit of b, k, m, g, t, p (also kb, mb and so on), which are powers
// of 1024. `unit` is the default unit, in bytes. Rejects fractions and negative numbers, like
// Spark.
absl::StatusOr<std::uint64_t> ParseBytes(absl::string_view text, std::uint64_t unit);
// Parses a whole number with a unit of us, ms, s, m, min, h or d. The default unit is `unit`.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text, absl::Duration unit);
absl::StatusOr<bool> ParseBool(absl::string_view text);
// Parses a number from 1 to `most`.
absl::StatusOr<std::uint32_t> ParseCount(absl::string_view text, std::uint32_t most);
// Parses a number from 0 to 1.
absl::StatusOr<double> ParseShare(absl::string_view text);

}  // namespace tidemark::phases
