// Of the settings of a Spark application, those that decide what its tasks take ([SPM] Table 5, and
// what has come since).
//
//   const auto settings = ParseSettings("3.5.1", {{"spark.executor.memory", "4g"}}, {.count = 4,
//                                       .cores = 8});
//
// What is not set has the default of that version of Spark, as the history of its documentation
// has it. Pure values.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tidemark::phases {

struct Version {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

// "3.5.1", "4.0.0-preview2", "2.4.7.dev"; InvalidArgument for anything that does not begin with two
// numbers.
absl::StatusOr<Version> ParseVersion(absl::string_view text);

// How an executor shares its memory out.
enum class MemoryModel : std::uint8_t {
  // A fixed share for shuffles, an equal part of it for each task ([SPM] eq. 19): before 1.6, and
  // until 3.0 with spark.memory.useLegacyMode.
  kFractions,
  // Shuffles take what cached data leave, and share it among the tasks that run: since 1.6.
  kUnified,
};

enum class ShuffleManager : std::uint8_t {
  kSort,
  kHash,      // until 2.0
  kTungsten,  // the name of the serialized shuffle in 1.4 and 1.5, since when it is part of kSort
};

enum class Codec : std::uint8_t { kLz4, kLzf, kSnappy, kZstd, kOther };
enum class Serializer : std::uint8_t { kJava, kKryo, kOther };

// In brackets the paper's names.
struct Settings {
  Version version;
  std::uint32_t executors = 1;       // [pNumExec]
  std::uint32_t executor_cores = 1;  // of each [pExecCores]
  std::uint32_t task_cores = 1;      // [pTaskCpus]
  double executor_memory_bytes = 0;  // heap [pExecMem]
  double off_heap_bytes = 0;         // for execution and storage; 0: none
  MemoryModel memory_model = MemoryModel::kUnified;
  double shuffle_fraction = 0.2;  // kFractions [pShuffleMemFrac]
  double safety_fraction = 0.8;   // kFractions [pShuffleSafeFrac]
  double memory_fraction = 0.6;   // kUnified: of the heap that is not reserved
  double storage_fraction = 0.5;  // kUnified: of that, what cached data keep
  ShuffleManager shuffle_manager = ShuffleManager::kSort;  // [pShuffleManager]
  std::uint32_t bypass_threshold = 200;                    // [pBypassThreshold]
  bool spills = true;                                      // [pIsSpill]; always, since 1.6
  bool compresses_shuffle = true;                          // [pIsShuffleCompress]
  bool compresses_spills = true;                           // [pIsSpillCompress]
  Codec codec = Codec::kLz4;                               // [pCompressor]
  Serializer serializer = Serializer::kJava;               // [pSerializer]
  std::uint32_t sql_partitions = 200;                      // of shuffles of SQL
  std::uint32_t default_partitions = 0;                    // of others; 0: the program decides
  // Tasks that run at once in each executor if a limit other than its cores applies, such as a GPU
  // or licences; 0 without such a limit.
  double at_once_max = 0;
  friend bool operator==(const Settings&, const Settings&) = default;

  // Returns how many tasks an executor runs at once; at least 1.
  double tasks_at_once() const;
  // Returns how many tasks all executors run at once; at least 1.
  double slots() const;
  // Returns the cores of all executors.
  double cores() const { return static_cast<double>(executors) * executor_cores; }
};

// Executors as events of the application show them. 0 if unknown, or if the settings decide
// instead.
struct SeenExecutors {
  std::uint32_t count = 0;
  std::uint32_t cores = 0;  // of each
  double at_once_max = 0;   // tasks in each, as in Settings
};

// The name of the setting and its value; others than those of use are not looked at.
using Properties = std::map<std::string, std::string>;

// Their names.
const std::vector<const char*>& PropertiesOfUse();

// What was seen counts more than what `properties` asked for. InvalidArgument names the setting,
// its value and what is wanted; FailedPrecondition: neither says how many executors or cores there
// are.
absl::StatusOr<Settings> ParseSettings(absl::string_view version, const Properties& properties,
                                       const SeenExecutors& seen);

struct RunSettings {
  Settings settings;
  Properties modelled;               // the properties without those that `remarks` name
  std::vector<std::string> remarks;  // for people
};

// Parses the settings that a run had. Spark accepted all of them, so a value that ParseSettings()
// rejects is replaced by its default and named in a remark. Returns the other errors of
// ParseSettings().
absl::StatusOr<RunSettings> ParseRunSettings(absl::string_view version,
                                             const Properties& properties,
                                             const SeenExecutors& seen);

// Returns a remark on the effect of a value that Spark allows and no model knows; "" for other
// values.
std::string WhyNotModelled(const std::string& name, const std::string& value);

}  // namespace tidemark::phases
