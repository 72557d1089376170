#include "whatif/what_if.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "text/counted.h"
#include "text/duration_text.h"
#include "whatif/mapreduce_run.h"
#include "whatif/phases/settings.h"
#include "whatif/plan_estimate.h"
#include "whatif/spark_models.h"
#include "whatif/spark_run.h"

namespace tidemark::whatif {
namespace {

// Maximum number of rows of an answer, which users read as a table.
constexpr double kRowsMax = 1000;

absl::Status CheckRows(double count) {
  if (count <= kRowsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{:.0f} combinations of settings; pass at most {:.0f}", count, kRowsMax));
}

constexpr char kInstances[] = "spark.executor.instances";
constexpr char kCores[] = "spark.executor.cores";
constexpr char kMemory[] = "spark.executor.memory";
constexpr char kCompress[] = "spark.shuffle.compress";
constexpr char kSqlPartitions[] = "spark.sql.shuffle.partitions";
constexpr char kDefaultPartitions[] = "spark.default.parallelism";

absl::Status SetTwice(const std::string& one, const std::string& other, const char* what) {
  return absl::InvalidArgumentError(
      fmt::format("{} and {} both set {}; omit one of them", one, other, what));
}

struct Option {
  const char* name;
  bool is_given;
  std::vector<const char*> settings;  // settings that the option changes
};

std::string ConfOf(const std::string& setting, const std::string& value) {
  return fmt::format("--conf {}={}", setting, value);
}

std::vector<Option> OptionsIn(const Question& question) {
  return {{"--executors", !question.executors.empty(), {kInstances}},
          {"--cores", !question.cores.empty(), {kCores}},
          {"--memory", !question.memory.empty(), {kMemory}},
          {"--compress", !question.compress.empty(), {kCompress}},
          {"--partitions", !question.partitions.empty(), {kSqlPartitions, kDefaultPartitions}}};
}

// Returns an error if --conf changes a setting that another option changes.
absl::Status CheckOptions(const Question& question) {
  for (const Option& option : OptionsIn(question)) {
    for (const char* setting : option.settings) {
      const auto conf = question.settings.find(setting);
      if (!option.is_given || conf == question.settings.end()) continue;
      return SetTwice(option.name, ConfOf(setting, conf->second), setting);
    }
  }
  return absl::OkStatus();
}

// Returns an error if --slots is combined with other options that set the number of slots.
absl::Status CheckSlots(const Question& question) {
  if (question.slots.empty()) return absl::OkStatus();
  constexpr char kWhat[] = "the number of slots";
  if (!question.cores.empty()) return SetTwice("--slots", "--cores", kWhat);
  for (const char* setting : {kInstances, kCores, "spark.task.cpus"}) {
    const auto conf = question.settings.find(setting);
    if (conf != question.settings.end()) {
      return SetTwice("--slots", ConfOf(setting, conf->second), kWhat);
    }
  }
  return absl::OkStatus();
}

// Returns each of `rows` combined with each of `values`, which `set` adds to the row.
template <typename Value, typename Set>
std::vector<SettingsRow> Combined(const std::vector<SettingsRow>& rows,
                                  const std::vector<Value>& values, const Set& set) {
  if (values.empty()) return rows;
  std::vector<SettingsRow> combined;
  for (const SettingsRow& row : rows) {
    for (const Value& value : values) {
      combined.push_back(row);
      set(value, combined.back());
    }
  }
  return combined;
}

// Returns a function that adds a number of things called `noun` to a row.
auto NumberSetter(std::vector<const char*> settings, const char* noun) {
  return [settings = std::move(settings), noun](std::uint32_t value, SettingsRow& row) {
    for (const char* setting : settings) row.settings[setting] = std::to_string(value);
    row.parts.push_back(text::Counted(value, noun));
  };
}

// Returns an error if --memory has the same size twice, in any units. The row of an invalid size
// rejects it.
absl::Status CheckMemory(const Question& question) {
  std::map<std::uint64_t, std::string> seen;
  for (const std::string& value : question.memory) {
    const auto bytes = phases::ParseBytes(value, phases::kMib);
    if (!bytes.ok()) continue;
    const auto [same, is_new] = seen.try_emplace(*bytes, value);
    if (is_new) continue;
    return absl::InvalidArgumentError(fmt::format(
        "--memory: {} and {} are the same size; omit one of them", same->second, value));
  }
  return absl::OkStatus();
}

double Combinations(const Question& question) {
  double count = 1;
  for (const std::size_t values :
       {question.executors.size(), question.cores.size(), question.memory.size(),
        question.partitions.size(), question.compress.size(), question.data.size()}) {
    if (values > 0) count *= static_cast<double>(values);
  }
  return count;
}

// --- names of rows ----------------------------------------------------------------------------

// Returns the name of a scenario. `parts` describe its other changes.
std::string Named(std::vector<std::string> parts, const Scenario& scenario) {
  if (scenario.data_factor) parts.push_back(fmt::format("{:g}x data", *scenario.data_factor));
  if (scenario.policy) parts.push_back(fmt::format("policy {}", NameOf(*scenario.policy)));
  if (parts.empty()) return "as requested";  // used if a master does not report the slots
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Returns the name of the unchanged run with its known sizes.
std::string AsItIs(const std::vector<std::string>& parts) {
  return parts.empty() ? "as it is" : fmt::format("as it is: {}", fmt::join(parts, ", "));
}

std::vector<std::string> SizesOf(const Outcome& outcome, bool has_executors) {
  std::vector<std::string> parts;
  if (has_executors && outcome.executors > 0) {
    parts.push_back(text::Counted(outcome.executors, "executor"));
  }
  if (outcome.slots > 0) parts.push_back(text::Counted(outcome.slots, "slot"));
  return parts;
}

// --- rows from models -------------------------------------------------------------------------

// Sets the end of the unchanged run, which is known.
void SetMeasuredEnd(const SparkRun& run, Outcome& outcome) {
  if (run.took) outcome.snapshot.estimate.remaining = Range{.median = *run.took};
}

// Adds a remark if the run lasted longer than the row of the unchanged run.
void RemarkOnEnd(const SparkRun& run, Row& row) {
  if (run.ended_later < absl::Seconds(1)) return;
  row.remarks.push_back(fmt::format("measured until the last stage ended; the {} ended {} later",
                                    run.reduce_fixed_share ? "job" : "application",
                                    text::ElapsedText(run.ended_later)));
}

void SetCoreHours(double cores, Row& row) {
  if (const auto& remaining = row.outcome.snapshot.estimate.remaining) {
    row.core_hours = absl::ToDoubleHours(remaining->median) * cores;
  }
}

absl::StatusOr<Row> RowOf(const ModelledRun& run, const Scenario& scenario,
                          const SettingsRow& changes, const std::string& name, absl::Time now) {
  auto outcome = EstimateRun(run, scenario, now);
  if (!outcome.ok()) return outcome.status();
  outcome->slots = scenario.slots.value_or(run.slots);
  outcome->executors = run.executors;
  Row row = {.name = name,
             .outcome = *std::move(outcome),
             .remarks = run.remarks,
             .settings = changes.settings,
             .data_factor = changes.data_factor,
             .binding = run.binding,
             .model = run.model};
  SetCoreHours(run.cores > 0 ? run.cores : row.outcome.slots, row);
  return row;
}

absl::StatusOr<Row> UnchangedRow(const SparkRun& run, absl::Time now) {
  const auto settings = SettingsOf(run.measured, {});
  if (!settings.ok()) return settings.status();
  const std::uint32_t slots = run.plan.cluster.slots;
  const std::uint32_t executors = settings->ran.executors;
  const Outcome had = {.slots = slots, .executors = executors};
  const double cores = settings->ran.cores();
  auto row = RowOf({.plan = run.plan, .slots = slots, .executors = executors, .cores = cores}, {},
                   {}, AsItIs(SizesOf(had, /*has_executors=*/true)), now);
  if (!row.ok()) return row;
  SetMeasuredEnd(run, row->outcome);
  SetCoreHours(cores > 0 ? cores : slots, *row);
  RemarkOnEnd(run, *row);
  return row;
}

bool IsUnchanged(const SparkRun& run, const Scenario& scenario) {
  const std::uint32_t slots = run.plan.cluster.slots;
  return !scenario.policy && scenario.data_factor.value_or(1) == 1 &&
         scenario.slots.value_or(slots) == slots;
}

// Returns a row for each scenario of the run, computed from its plan and the load of its stages.
absl::StatusOr<std::vector<Row>> RowsOfPlan(const SparkRun& run, const Question& question,
                                            absl::Time now) {
  const SlotScaling scaling(run);
  std::vector<Outcome> outcomes;
  for (const Scenario& scenario : ScenariosOf(question)) {
    ModelledRun other = {.plan = run.plan};
    scaling.Apply(scenario.slots.value_or(run.plan.cluster.slots), /*has_changes=*/false, other);
    auto outcome = EstimateRun(other, scenario, now);
    if (!outcome.ok()) return outcome.status();
    if (IsUnchanged(run, scenario)) SetMeasuredEnd(run, *outcome);
    outcomes.push_back(*std::move(outcome));
  }
  std::vector<Row> rows = NamedRows(question, outcomes, run.plan.cluster.slots);
  RemarkOnEnd(run, rows.front());
  return rows;
}

// Adds a remark to rows with more slots than the first row.
void RemarkOnSlots(std::vector<Row>& rows) {
  for (Row& row : rows) {
    // If there are no states, the model has slots but no nodes with cores.
    const bool has_more_slots = row.outcome.slots > rows[0].outcome.slots;
    if (has_more_slots && row.outcome.executors == 0 && row.outcome.states.empty()) {
      row.remarks.emplace_back("each slot is assumed to have a processor");
    }
  }
}

// Returns the rows of a MapReduce job, whose waves of tasks are placed on the slots. With
// Question::reducers, there is a row for each scenario and each number of reduce tasks.
absl::StatusOr<std::vector<Row>> RowsOfMapReduce(const std::string& path, const SparkRun& run,
                                                 const Question& question, absl::Time now) {
  const Question of_run = question.reducers.empty() ? question : Question();
  auto rows = AnswerFromPlan(run.plan, of_run, now);
  if (!rows.ok()) return rows;
  std::vector<Scenario> scenarios = ScenariosOf(of_run);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (IsUnchanged(run, scenarios[i])) SetMeasuredEnd(run, (*rows)[i].outcome);
  }
  RemarkOnEnd(run, rows->front());
  if (question.reducers.empty()) return rows;
  scenarios = ScenariosOf(question);
  if (scenarios.size() > 1) scenarios.erase(scenarios.begin());
  if (absl::Status few =
          CheckRows(static_cast<double>(scenarios.size() * question.reducers.size()));
      !few.ok()) {
    return few;
  }
  std::vector<std::string> remarks = {
      "assumes that keys divide evenly among the reduce tasks; one large key group stays whole"};
  if (*run.reduce_fixed_share == 0) {
    remarks.emplace_back("the run does not show a fixed time per reduce task, so none is assumed");
  }
  for (const Scenario& scenario : scenarios) {
    for (const std::uint32_t reducers : question.reducers) {
      const auto plan = WithReduceTasks(run.plan, *run.reduce_fixed_share, reducers);
      if (!plan.ok()) {
        return absl::Status(plan.status().code(),
                            fmt::format("{}: {}", path, std::string(plan.status().message())));
      }
      auto outcome = EstimateStages(*plan, scenario, now);
      if (!outcome.ok()) return outcome.status();
      outcome->slots = scenario.slots.value_or(plan->cluster.slots);
      std::vector<std::string> parts = {text::Counted(reducers, "reduce task")};
      if (scenario.slots) parts.insert(parts.begin(), text::Counted(*scenario.slots, "slot"));
      rows->push_back({.name = Named(std::move(parts), scenario),
                       .outcome = *std::move(outcome),
                       .remarks = remarks});
    }
  }
  return rows;
}

// Returns an error if the question is not about this kind of run.
absl::Status CheckKind(const std::string& path, const SparkRun& run, const Question& question) {
  if (!run.reduce_fixed_share && !question.reducers.empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "{} is the log of a Spark application, which has no reduce tasks; use --partitions instead "
        "of --reducers",
        path));
  }
  if (!run.reduce_fixed_share || !question.HasSparkSettings()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} is the log of a MapReduce job; use --slots, --reducers, --data-factor or "
                  "--policy instead of options for Spark",
                  path));
}

// Returns true if the row changes nothing in the run. `asked` contains its settings.
bool IsUnchanged(const SparkRun& run, const Question& question, const Scenario& scenario,
                 const SettingsRow& row, const SettingsPair& asked) {
  if (!IsUnchanged(run, scenario) || row.data_factor.value_or(1) != 1) return false;
  const std::map<std::string, std::string>& known = run.measured.parameters();
  for (const auto& [name, value] : question.parameters) {
    const auto parameter = known.find(name);
    if (parameter == known.end() || parameter->second != value) return false;
  }
  return asked.other == asked.ran && asked.of_changes.empty();
}

bool ChangesMoreThanExecutors(const Question& question) {
  Question others = question;
  others.learn.clear();
  return !others.LogOptions().empty();
}

// Returns the row of the unchanged run, with the name of a row that changes nothing.
Row SameAsRun(Row row, const SettingsRow& changes, const std::string& name) {
  row.name = name;
  row.settings = changes.settings;
  row.data_factor = changes.data_factor;
  row.remarks = {"same values as in the run, so this row is the run itself"};
  return row;
}

// The duration of the unchanged run according to the models of several runs.
struct UnchangedEnds {
  // according to runs that differ only in executors or, without such runs, according to stages
  std::optional<absl::Duration> by_runs;
  std::optional<absl::Duration> by_stages;  // according to the models of stages
  std::string binding;                      // as in Row
};

// The models that answer a question, from one run or from several.
class Models {
 public:
  // `run` must outlive the models. Adds the remarks on further logs to `warnings`.
  static absl::StatusOr<Models> Learn(const std::string& path, const SparkRun& run,
                                      const Question& question,
                                      std::vector<std::string>& warnings) {
    Models models;
    const bool needs_several = !question.partitions.empty() || !question.data.empty() ||
                               !question.learn.empty() || !question.parameters.empty() ||
                               !question.sizes.empty() || !question.probes.empty() ||
                               question.find.has_value();
    if (!needs_several) {
      auto learnt = SparkRunModels::Learn(run);
      if (!learnt.ok()) return learnt.status();
      models.one_.emplace(*std::move(learnt));
      return models;
    }
    std::vector<SparkRun> runs = {run};
    std::vector<std::string> paths = {path};
    const auto read = [&warnings](const std::string& log) -> absl::StatusOr<SparkRun> {
      auto other = ReadSparkRun(log);
      if (other.ok() && other->reduce_fixed_share) {
        return absl::InvalidArgumentError(fmt::format(
            "{} is the log of a MapReduce job; pass logs of the Spark application", log));
      }
      if (other.ok()) warnings.insert(warnings.end(), other->remarks.begin(), other->remarks.end());
      return other;
    };
    for (const std::string& other_path : question.learn) {
      auto other = read(other_path);
      if (!other.ok()) return other.status();
      runs.push_back(*std::move(other));
      paths.push_back(other_path);
    }
    std::map<std::string, SparkRun> probes;
    for (const auto& [stage, log] : question.probes) {
      auto probe = read(log);
      if (!probe.ok()) return probe.status();
      probes.emplace(stage, *std::move(probe));
    }
    auto learnt = SparkRuns::Learn(std::move(runs), paths);
    if (!learnt.ok()) return learnt.status();
    models.several_.emplace(*std::move(learnt));
    // Other executors alone are predicted by curves, which need no comparison.
    if (ChangesMoreThanExecutors(question)) models.several_->CompareModels();
    if (absl::Status split = models.several_->Split(probes); !split.ok()) return split;
    // Rows that equal the run do not use the sizes, so check them here.
    if (!question.sizes.empty()) {
      if (const auto sized = models.With({}, question); !sized.ok()) return sized.status();
    }
    return models;
  }

  absl::StatusOr<ModelledRun> With(const SettingsRow& row, const Question& question) const {
    if (one_) return one_->With(row.settings);
    return several_->With(row.settings, row.data_factor.value_or(1), question.parameters,
                          question.sizes);
  }

  // Returns the duration of the unchanged run according to the models of several runs. Returns
  // nothing if there is no estimate, or for models of one run, which predict the run itself.
  absl::StatusOr<UnchangedEnds> Unchanged(absl::Time now) const {
    UnchangedEnds ends;
    if (!several_) return ends;
    auto same = several_->With({}, /*data_factor=*/1, {});
    if (!same.ok()) return same.status();
    ends.binding = same->binding;
    for (std::optional<absl::Duration>* const end : {&ends.by_runs, &ends.by_stages}) {
      const auto row = RowOf(*same, {.slots = same->slots}, {}, "", now);
      if (!row.ok()) return row.status();
      const auto& remaining = row->outcome.snapshot.estimate.remaining;
      if (remaining) *end = remaining->median;
      same->whole.reset();
    }
    return ends;
  }

 private:
  std::optional<SparkRunModels> one_;
  std::optional<SparkRuns> several_;
};

// Adds a remark to each row that is compared with the models' duration of the unchanged run.
void RemarkOnComparison(std::vector<Row>& rows) {
  for (Row& row : rows) {
    if (!row.as_it_is) continue;
    row.remarks.push_back(
        fmt::format("predicted by models, which give {} for the unchanged run; SPEED-UP compares "
                    "with that value",
                    text::NearestText(*row.as_it_is)));
  }
}

// --- found settings ---------------------------------------------------------------------------

// Limits on the choices of a search, and on the stages of all its choices. Chosen by hand so that a
// search takes less than a second.
constexpr std::size_t kChoicesMax = 400;
constexpr std::size_t kChoicesMin = 32;
constexpr std::size_t kStagesOfChoicesMax = 32'000;
// If there is no other limit, a search considers at most this multiple of the cores of the run.
constexpr double kCoresTimes = 4;
// Numbers of choices that are predicted with intervals, and that are reported.
constexpr std::size_t kPredictedMax = 8;
constexpr std::size_t kReportedMax = 5;
// The rough end of a choice may differ from its prediction by this share. Chosen by hand.
constexpr double kRoughTolerance = 0.1;

// Returns the size in the largest of Spark's units that divides it, such as "1536m".
std::string MemoryText(std::uint64_t bytes) {
  if (bytes % (phases::kMib * phases::kKib) == 0) {
    return fmt::format("{}g", bytes / (phases::kMib * phases::kKib));
  }
  if (bytes % phases::kMib == 0) return fmt::format("{}m", bytes / phases::kMib);
  return bytes % phases::kKib == 0 ? fmt::format("{}k", bytes / phases::kKib)
                                   : fmt::format("{}b", bytes);
}

// Returns the number of partitions by which stages of the run shuffle, or 0 if no stage follows the
// setting.
std::uint32_t PartitionsFollowed(const SparkRun& run, const phases::Settings& ran) {
  for (const std::uint32_t partitions : {ran.sql_partitions, ran.default_partitions}) {
    const auto follows = [&](const PlannedStage& stage) {
      return !stage.after.empty() && stage.task_count == partitions;
    };
    if (partitions > 1 && std::ranges::any_of(run.plan.jobs[0].stages, follows)) return partitions;
  }
  return 0;
}

// The settings that a search varies, and the changes that all its choices share.
class FindSpace {
 public:
  // `ran` contains the settings with the shared changes.
  static absl::StatusOr<FindSpace> Of(const SparkRun& run, const Question& question,
                                      const phases::Settings& ran, double seconds) {
    FindSpace space;
    Question shared = question;
    shared.executors.clear();
    shared.cores.clear();
    shared.memory.clear();
    shared.partitions.clear();
    const auto rows = SettingsRowsOf(shared);
    if (!rows.ok()) return rows.status();
    if (rows->size() > 1) {
      return absl::InvalidArgumentError("--find accepts one value each of --data and --compress");
    }
    space.shared_ = rows->front();
    space.find_ = *question.find;
    space.run_ = {.executors = ran.executors,
                  .cores = ran.executor_cores,
                  .cores_of_task = ran.task_cores,
                  .memory_bytes = static_cast<std::uint64_t>(ran.executor_memory_bytes),
                  .partitions = PartitionsFollowed(run, ran)};
    if (run.is_local()) space.run_.memory_bytes = 0;
    space.SetDefaultLimits(seconds, /*limits_cores=*/question.executors.empty());
    space.values_ = SpaceAround(space.run_, space.find_.limits);
    if (absl::Status given = space.SetGiven(run, question); !given.ok()) return given;
    return space;
  }

  const Find& find() const { return find_; }
  const std::string& remark() const { return remark_; }

  std::vector<Tried> Search(std::size_t most,
                            absl::FunctionRef<std::optional<Figures>(const SettingsRow&)> figures) {
    const auto evaluate = [&](const Choice& choice) -> std::optional<Figures> {
      if (!Allows(find_.limits, ValuesOf(choice, values_, run_))) return std::nullopt;
      return figures(RowOf(choice));
    };
    return whatif::Search(NumbersIn(values_), ChoiceNear(values_, run_), find_, most, evaluate);
  }

  SettingsRow RowOf(const Choice& choice) const {
    const SearchedRun values = ValuesOf(choice, values_, run_);
    SettingsRow row = shared_;
    std::vector<std::string> parts;
    const auto set = [&](bool is_searched, std::vector<const char*> settings,
                         const std::string& value, std::string part) {
      if (!is_searched) return;
      for (const char* setting : settings) row.settings[setting] = value;
      parts.push_back(std::move(part));
    };
    set(!values_.executors.empty(), {kInstances}, std::to_string(values.executors),
        text::Counted(values.executors, "executor"));
    set(!values_.cores.empty(), {kCores}, std::to_string(values.cores),
        text::Counted(values.cores, "core"));
    const std::string memory = MemoryText(values.memory_bytes);
    set(!values_.memory_bytes.empty(), {kMemory}, memory, memory + " memory");
    set(!values_.partitions.empty(), {kSqlPartitions, kDefaultPartitions},
        std::to_string(values.partitions), text::Counted(values.partitions, "partition"));
    row.parts.insert(row.parts.begin(), parts.begin(), parts.end());
    return row;
  }

 private:
  // Sets limits that the question leaves open: cores for the shortest time, or the time for the
  // fewest core-hours. `seconds` is the duration of the run.
  void SetDefaultLimits(double seconds, bool limits_cores) {
    Limits& limits = find_.limits;
    if (find_.goal == Goal::kCoreHours && !limits.seconds) {
      limits.seconds = (1 + kWorthwhile) * seconds;
      remark_ = fmt::format("at most {:g} % slower than the run; --limit time=TIME changes this",
                            100 * kWorthwhile);
    }
    if (!limits_cores || limits.executors || limits.cores || limits.memory_bytes) return;
    limits.cores = kCoresTimes * run_.executors * run_.cores;
    const std::string most =
        fmt::format("at most {:.0f} cores, {:g} times the run's; --limit cores=N changes this",
                    *limits.cores, kCoresTimes);
    remark_ = remark_.empty() ? most : fmt::format("{}; {}", remark_, most);
  }

  // Replaces values by the values in the question. Settings of --conf are not searched. Returns an
  // error for a value that no choice can have.
  absl::Status SetGiven(const SparkRun& run, const Question& question) {
    const auto replace = [](auto given, auto& values) {
      std::ranges::sort(given);
      if (!given.empty()) values = std::move(given);
    };
    std::vector<std::uint64_t> memory;
    for (const std::string& size : question.memory) {
      if (absl::Status checked = Check(run, {{kMemory, size}}); !checked.ok()) return checked;
      const auto bytes = phases::ParseBytes(size, phases::kMib);
      if (!bytes.ok()) return bytes.status();
      memory.push_back(*bytes);
    }
    replace(question.executors, values_.executors);
    replace(question.cores, values_.cores);
    replace(memory, values_.memory_bytes);
    replace(question.partitions, values_.partitions);
    const auto is_set = [&](const char* setting) { return question.settings.contains(setting); };
    if (is_set(kInstances)) values_.executors.clear();
    if (is_set(kCores)) values_.cores.clear();
    if (is_set(kMemory)) values_.memory_bytes.clear();
    if (is_set(kSqlPartitions) || is_set(kDefaultPartitions)) values_.partitions.clear();
    return CheckExecutors(run, question);
  }

  // Checks each given number together with the smallest possible value of the other setting.
  absl::Status CheckExecutors(const SparkRun& run, const Question& question) const {
    for (const std::uint32_t cores : question.cores) {
      phases::Properties changes = {{kCores, std::to_string(cores)}};
      if (!values_.executors.empty()) {
        changes[kInstances] = std::to_string(values_.executors.front());
      }
      if (absl::Status checked = Check(run, changes); !checked.ok()) return checked;
    }
    const auto cores = std::ranges::lower_bound(values_.cores, run_.cores_of_task);
    for (const std::uint32_t executors : question.executors) {
      phases::Properties changes = {{kInstances, std::to_string(executors)}};
      if (cores != values_.cores.end()) changes[kCores] = std::to_string(*cores);
      if (absl::Status checked = Check(run, changes); !checked.ok()) return checked;
    }
    return absl::OkStatus();
  }

  // Returns the error of the run with these settings and the shared settings.
  absl::Status Check(const SparkRun& run, phases::Properties changes) const {
    changes.insert(shared_.settings.begin(), shared_.settings.end());
    return SettingsOf(run.measured, changes).status();
  }

  SettingsRow shared_;
  Find find_;
  SearchedRun run_;
  SearchSpace values_;
  std::string remark_;  // remark about limits that the question does not set
};

constexpr char kResourcesInLocalMode[] =
    "the run was in local mode, where tasks share the cores of the driver: resource amounts have "
    "no effect";
constexpr char kMemoryInLocalMode[] =
    "the run was in local mode, where all tasks use the driver's memory: the memory of executors "
    "has no effect";

// Returns the row with four times the memory, or nullopt if memory has no effect.
std::optional<SettingsRow> WithMoreMemory(const SparkRun& run, SettingsRow row) {
  const auto memory = row.settings.find(kMemory);
  if (run.is_local() || memory == row.settings.end()) return std::nullopt;
  const auto bytes = phases::ParseBytes(memory->second, phases::kMib);
  if (!bytes.ok()) return std::nullopt;
  memory->second = MemoryText(4 * *bytes);
  return row;
}

// Answers questions about Spark settings from one run.
class SettingsAnswer {
 public:
  SettingsAnswer(const std::string& path, const SparkRun& run, const Question& question,
                 absl::Time now)
      : path_(path), run_(run), question_(question), now_(now) {}

  absl::StatusOr<Answer> Compute() {
    if (question_.find) return ComputeFound();
    if (question_.slots.size() > 1) {
      return absl::InvalidArgumentError(
          "--slots accepts one number in combination with Spark settings");
    }
    scenario_ = {.data_factor = question_.data_factor, .policy = question_.policy};
    if (!question_.slots.empty()) scenario_.slots = question_.slots[0];
    const auto changes = SettingsRowsOf(question_);
    if (!changes.ok()) return changes.status();
    const bool is_asked =
        changes->size() > 1 || !(*changes)[0].parts.empty() || scenario_ != Scenario();
    if (!question_.learn.empty() && !is_asked) {
      return absl::InvalidArgumentError(
          "--learn has no effect on the unchanged run; pass other settings, such as --executors, "
          "--partitions, --data or --conf, or omit --learn");
    }
    Answer answer;
    const auto models = Models::Learn(path_, run_, question_, answer.warnings);
    if (!models.ok()) return models.status();
    auto unchanged = UnchangedRow(run_, now_);
    if (!unchanged.ok()) return unchanged.status();
    const auto modelled = models->Unchanged(now_);
    if (!modelled.ok()) return modelled.status();
    unchanged->binding = modelled->binding;
    if (!unchanged->binding.empty()) SetBound({}, *models, /*explains=*/false, *unchanged);
    answer.rows = {*unchanged};
    if (!question_.partitions.empty()) {
      for (std::string& remark : SkewRemarks(run_.plan, unchanged->outcome)) {
        answer.rows[0].remarks.push_back(std::move(remark));
      }
    }
    for (const SettingsRow& row : *changes) {
      if (row.parts.empty() && scenario_ == Scenario()) continue;  // This is the unchanged row.
      auto changed = ChangedRow(row, *models, *unchanged, *modelled);
      if (!changed.ok()) return InOptions(changed.status(), question_);
      if (IsFaster(*changed, *unchanged)) RemarkOnGain(Goal::kTime, *unchanged, *changed);
      answer.rows.push_back(*std::move(changed));
    }
    RemarkOnComparison(answer.rows);
    return answer;
  }

 private:
  // Answers with the best few settings of a search.
  absl::StatusOr<Answer> ComputeFound() {
    if (!question_.slots.empty()) return SetTwice("--slots", "--find", "the number of slots");
    if (question_.data_factor) {
      return absl::InvalidArgumentError("--find does not support --data-factor; use --data");
    }
    if (const auto checked = SettingsRowsOf(question_); !checked.ok()) return checked.status();
    scenario_ = {.policy = question_.policy};
    const auto settings = SettingsOf(run_.measured, question_.settings);
    if (!settings.ok()) return settings.status();
    Answer answer;
    const auto models = Models::Learn(path_, run_, question_, answer.warnings);
    if (!models.ok()) return models.status();
    const auto unchanged = UnchangedRow(run_, now_);
    if (!unchanged.ok()) return unchanged.status();
    const auto modelled = models->Unchanged(now_);
    if (!modelled.ok()) return modelled.status();
    answer.rows = {*unchanged};
    const double seconds = FiguresOf(*unchanged).value_or(Figures()).seconds;
    auto space = FindSpace::Of(run_, question_, settings->other, seconds);
    if (!space.ok()) return InOptions(space.status(), question_);
    auto found = FoundRows(*space, *models, *unchanged, *modelled);
    if (!found.ok()) return InOptions(found.status(), question_);
    for (Row& row : *found) answer.rows.push_back(std::move(row));
    SetBound({}, *models, /*explains=*/true, answer.rows[0]);
    if (!space->remark().empty()) {
      for (Row& row : answer.rows) row.remarks.push_back(space->remark());
    }
    RemarkOnComparison(answer.rows);
    return answer;
  }

  static std::optional<Figures> FiguresOf(const Row& row) {
    const auto& remaining = row.outcome.snapshot.estimate.remaining;
    if (!remaining) return std::nullopt;
    return Figures{absl::ToDoubleSeconds(remaining->median), row.core_hours.value_or(0)};
  }

  absl::StatusOr<std::vector<Row>> FoundRows(FindSpace& space, const Models& models,
                                             const Row& unchanged, const UnchangedEnds& modelled) {
    absl::Status failed = absl::InvalidArgumentError(
        "--limit: no executors are within the limits; raise executors, cores or memory");
    const std::size_t stages = run_.plan.jobs[0].stages.size();
    const std::size_t most = std::clamp(kStagesOfChoicesMax / std::max<std::size_t>(stages, 1),
                                        kChoicesMin, kChoicesMax);
    const double factor = RoughFactor(models, unchanged, modelled);
    const std::vector<Tried> tried =
        space.Search(most, [&](const SettingsRow& row) -> std::optional<Figures> {
          const auto other = models.With(row, question_);
          if (!other.ok()) failed = other.status();
          if (!other.ok()) return std::nullopt;
          const double seconds = RoughSeconds(*other, factor);
          return Figures{seconds, absl::ToDoubleHours(absl::Seconds(seconds)) * other->cores};
        });
    if (tried.empty()) return failed;
    std::vector<Figures> rough;
    for (const Tried& choice : tried) rough.push_back(choice.figures);
    Find loose = space.find();
    Find tight = space.find();
    for (auto* limit : {&loose.limits.seconds, &loose.limits.core_hours}) {
      if (*limit) **limit *= 1 + kRoughTolerance;
    }
    for (auto* limit : {&tight.limits.seconds, &tight.limits.core_hours}) {
      if (*limit) **limit /= 1 + kRoughTolerance;
    }
    // The best choices may be in another order by rough ends, so more of them are predicted.
    std::set<std::size_t> predicted = {0};  // the choice nearest to the run
    for (const Find& limits : {loose, space.find(), tight}) {
      for (const std::size_t i : BestOf(rough, limits, kPredictedMax)) predicted.insert(i);
    }
    struct Candidate {
      Row row;
      SettingsRow change;
      Figures figures;
    };
    std::vector<Candidate> candidates;
    for (const std::size_t i : predicted) {
      SettingsRow change = space.RowOf(tried[i].choice);
      auto row = ChangedRow(change, models, unchanged, modelled);
      if (!row.ok()) return row.status();
      const auto figures = FiguresOf(*row);
      if (figures) candidates.push_back({*std::move(row), std::move(change), *figures});
    }
    Find find = space.find();
    const auto exceeds = [&](const Candidate& candidate) {
      return Exceeds(candidate.figures, find.limits);
    };
    const bool fits = !std::ranges::all_of(candidates, exceeds);
    if (fits) {
      std::erase_if(candidates, exceeds);
      find.limits = {};
    }
    std::vector<Figures> figures;
    for (const Candidate& candidate : candidates) {
      figures.push_back(fits ? ComparableFigures(candidate.row, unchanged) : candidate.figures);
    }
    std::vector<Row> found;
    for (const std::size_t i : BestOf(figures, find, kReportedMax)) {
      found.push_back(std::move(candidates[i].row));
      SetBound(candidates[i].change, models, /*explains=*/found.size() == 1, found.back());
      if (!fits) found.back().remarks.push_back(RemarkOnExcess(find.limits));
    }
    if (!found.empty()) RemarkOnGain(find.goal, unchanged, found[0]);
    return found;
  }

  // Returns the figures of the row, multiplied by its models' error for the unchanged run. Rows of
  // different models are then ranked by SPEED-UP.
  static Figures ComparableFigures(const Row& row, const Row& unchanged) {
    Figures figures = FiguresOf(row).value_or(Figures());
    const double measured = FiguresOf(unchanged).value_or(Figures()).seconds;
    const double modelled = row.as_it_is ? absl::ToDoubleSeconds(*row.as_it_is) : 0;
    if (!(measured > 0 && modelled > 0)) return figures;
    figures.seconds *= measured / modelled;
    figures.core_hours *= measured / modelled;
    return figures;
  }

  static std::string RemarkOnExcess(const Limits& limits) {
    const bool has_both = limits.seconds && limits.core_hours;
    return fmt::format("no settings meet the limit{}; these exceed {} least",
                       has_both         ? "s of time and core-hours"
                       : limits.seconds ? " of time"
                                        : " of core-hours",
                       has_both ? "them" : "it");
  }

  // Returns true if the SPEED-UP of the row exceeds 1.
  static bool IsFaster(const Row& row, const Row& unchanged) {
    const auto& takes = row.outcome.snapshot.estimate.remaining;
    const auto& measured = unchanged.outcome.snapshot.estimate.remaining;
    return takes && measured && takes->median < row.as_it_is.value_or(measured->median);
  }

  // Adds a remark if the interval of the row contains the figure of the unchanged run.
  static void RemarkOnGain(Goal goal, const Row& unchanged, Row& row) {
    const auto& takes = row.outcome.snapshot.estimate.remaining;
    const auto& measured = unchanged.outcome.snapshot.estimate.remaining;
    if (!takes || !takes->lower || !takes->upper || !measured) return;
    const absl::Duration same = row.as_it_is.value_or(measured->median);
    // Ratio of the run's figure to the row's figure. The figures of a row are proportional to its
    // time.
    const double share = goal == Goal::kTime
                             ? absl::FDivDuration(same, takes->median)
                             : absl::FDivDuration(same, measured->median) *
                                   unchanged.core_hours.value_or(0) / row.core_hours.value_or(1);
    const absl::Duration reached = takes->median * share;
    if (!(reached >= *takes->lower && reached <= *takes->upper)) return;
    row.remarks.emplace_back(
        goal == Goal::kTime
            ? "may be no faster than the run, since the interval contains the run's time"
            : "may be no cheaper than the run, since the interval contains the run's core-hours");
  }

  // Returns the ratio of the unchanged run's duration to its rough end, or 1 if either is unknown.
  double RoughFactor(const Models& models, const Row& unchanged,
                     const UnchangedEnds& modelled) const {
    const auto same = models.With({}, question_);
    const double rough = same.ok() ? RoughEndOf(same->plan, same->slots).seconds : 0;
    const double seconds = modelled.by_stages ? absl::ToDoubleSeconds(*modelled.by_stages)
                                              : FiguresOf(unchanged).value_or(Figures()).seconds;
    return rough > 0 && seconds > 0 ? seconds / rough : 1;
  }

  // Returns approximately the duration that EstimateRun() predicts.
  static double RoughSeconds(const ModelledRun& run, double factor) {
    const double seconds = factor * RoughEndOf(run.plan, run.slots).seconds;
    if (!run.whole) return seconds;
    const double of = absl::ToDoubleSeconds(run.whole_of.value_or(absl::ZeroDuration()));
    return of > 0 ? seconds * run.whole->seconds / of : run.whole->seconds;
  }

  // Sets the limiting resource of the row. If `explains` is true, adds a remark with figures.
  void SetBound(const SettingsRow& change, const Models& models, bool explains, Row& row) const {
    const auto other = models.With(change, question_);
    const auto figures = FiguresOf(row);
    if (!other.ok() || !figures) return;
    const std::uint32_t slots = row.outcome.slots;
    RoughEnd end = RoughEndOf(other->plan, slots);
    if (!(end.seconds > 0)) return;
    const double factor = figures->seconds / end.seconds;
    std::optional<double> more_memory;
    if (const auto more = WithMoreMemory(run_, change)) {
      const auto with_more = models.With(*more, question_);
      if (with_more.ok()) more_memory = factor * RoughEndOf(with_more->plan, slots).seconds;
    }
    end = Scaled(std::move(end), factor);
    const Bound bound = BoundOf(end, slots, other->binding, more_memory);
    row.binding = bound.name;
    if (explains && !bound.sentence.empty()) row.remarks.push_back(bound.sentence);
  }

  absl::StatusOr<Row> ChangedRow(const SettingsRow& row, const Models& models, const Row& unchanged,
                                 const UnchangedEnds& modelled) {
    // Check every value, even if it has no effect.
    if (const auto checked = SettingsOf(run_.measured, row.settings); !checked.ok()) {
      return checked.status();
    }
    SettingsRow effective = row;
    bool has_idle_memory = false;
    const auto memory = effective.settings.find(kMemory);
    if (run_.is_local() && memory != effective.settings.end()) {
      has_idle_memory = !run_.measured.WasSetTo(kMemory, memory->second);
      effective.settings.erase(memory);
    }
    bool has_idle_resources = false;
    if (run_.is_local()) {
      has_idle_resources = std::erase_if(effective.settings, [](const auto& setting) {
                             return phases::ResourceIn(setting.first).has_value();
                           }) > 0;
    }
    const auto asked = SettingsOf(run_.measured, effective.settings);
    if (!asked.ok()) return asked.status();
    std::vector<std::string> parts = row.parts;
    if (scenario_.slots) parts.insert(parts.begin(), text::Counted(*scenario_.slots, "slot"));
    const std::string name = Named(std::move(parts), scenario_);
    absl::StatusOr<Row> changed;
    if (IsUnchanged(run_, question_, scenario_, effective, *asked)) {
      changed = SameAsRun(unchanged, row, name);
    } else {
      auto other = models.With(effective, question_);
      if (!other.ok()) return other.status();
      Scenario scenario = scenario_;
      if (!scenario.slots) scenario.slots = other->slots;
      // The executors that would provide the slots of the question are unknown.
      if (scenario.slots != other->slots) {
        other->executors = 0;
        other->cores = 0;
        other->whole.reset();
      }
      changed = RowOf(*other, scenario, row, name, now_);
      if (!changed.ok()) return changed;
      changed->as_it_is = other->whole ? modelled.by_runs : modelled.by_stages;
      if (!question_.find && !changed->binding.empty()) {
        SetBound(effective, models, /*explains=*/false, *changed);
      }
    }
    if (has_idle_memory) changed->remarks.emplace_back(kMemoryInLocalMode);
    if (has_idle_resources) changed->remarks.emplace_back(kResourcesInLocalMode);
    return changed;
  }

  const std::string& path_;
  const SparkRun& run_;
  const Question& question_;
  const absl::Time now_;
  Scenario scenario_;
};

}  // namespace

std::vector<std::string> Question::LogOptions() const {
  std::vector<std::string> options;
  const auto add = [&options](const char* option, bool is_given) {
    if (is_given) options.emplace_back(option);
  };
  add("--cores", !cores.empty());
  add("--memory", !memory.empty());
  add("--partitions", !partitions.empty());
  add("--compress", !compress.empty());
  add("--data", !data.empty());
  add("--param", !parameters.empty());
  add("--size", !sizes.empty());
  add("--probe", !probes.empty());
  add("--learn", !learn.empty());
  add("--conf", !settings.empty());
  add("--find", find.has_value());
  add("--reducers", !reducers.empty());
  return options;
}

std::vector<Scenario> ScenariosOf(const Question& question) {
  Scenario asked = {.data_factor = question.data_factor, .policy = question.policy};
  std::vector<Scenario> scenarios(1);
  const bool is_of_one_size = question.slots.empty() && question.executors.empty();
  if (is_of_one_size && asked != Scenario()) scenarios.push_back(asked);
  for (const std::uint32_t executors : question.executors) {
    asked.executors = executors;
    scenarios.push_back(asked);
  }
  for (const std::uint32_t slots : question.slots) {
    asked.slots = slots;
    scenarios.push_back(asked);
  }
  return scenarios;
}

std::vector<Row> NamedRows(const Question& question, const std::vector<Outcome>& outcomes,
                           std::uint32_t slots) {
  const std::vector<Scenario> scenarios = ScenariosOf(question);
  const bool has_executors = !question.executors.empty();
  std::vector<Row> rows;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Scenario scenario = i < scenarios.size() ? scenarios[i] : Scenario();
    Row& row = rows.emplace_back(Row{.outcome = outcomes[i]});
    Outcome& outcome = row.outcome;
    if (outcome.slots == 0) outcome.slots = scenario.slots.value_or(slots);
    const std::vector<std::string> sizes = SizesOf(outcome, has_executors);
    row.name = scenario == Scenario() ? AsItIs(sizes) : Named(sizes, scenario);
    const auto& remaining = outcome.snapshot.estimate.remaining;
    if (has_executors && remaining && outcome.slots > 0) {
      row.core_hours = absl::ToDoubleHours(remaining->median) * outcome.slots;
    }
  }
  return rows;
}

void AddRemarksOnJob(std::vector<Row>& rows) {
  if (!rows.empty() && rows[0].outcome.skew_gain) {
    const SkewGain& gain = *rows[0].outcome.skew_gain;
    std::string stage = std::to_string(gain.stage);
    for (const StageInfo& info : rows[0].outcome.snapshot.stage_infos) {
      if (info.id.stage == gain.stage && !info.name.empty()) stage = info.name;
    }
    rows[0].remarks.push_back(
        SkewRemark(stage, absl::ToDoubleSeconds(gain.lower), absl::ToDoubleSeconds(gain.upper)));
  }
  for (Row& row : rows) {
    const Estimate& estimate = row.outcome.snapshot.estimate;
    if (estimate.remaining && estimate.basis == Basis::kGuess) {
      row.remarks.emplace_back("a guess: no job has past runs or has started");
      if (rows.size() > 1) row.remarks.back() += "; the rows cannot be compared";
    }
  }
  RemarkOnSlots(rows);
}

absl::StatusOr<std::vector<Row>> AnswerFromPlan(const Plan& plan, const Question& question,
                                                absl::Time now) {
  std::vector<Outcome> outcomes;
  for (const Scenario& scenario : ScenariosOf(question)) {
    auto outcome = EstimateStages(plan, scenario, now);
    if (!outcome.ok()) return outcome.status();
    outcomes.push_back(*std::move(outcome));
  }
  std::vector<Row> rows = NamedRows(question, outcomes, plan.cluster.slots);
  rows.front().remarks = SkewRemarks(plan, outcomes.front());
  return rows;
}

absl::StatusOr<Answer> AnswerFromLog(const std::string& path, const Question& question,
                                     absl::Time now) {
  auto run = ReadSparkRun(path);
  if (!run.ok()) return run.status();
  if (absl::Status kind = CheckKind(path, *run, question); !kind.ok()) return kind;
  std::vector<std::string> warnings = run->remarks;
  Answer answer;
  if (question.HasSparkSettings()) {
    auto answered = SettingsAnswer(path, *run, question, now).Compute();
    if (!answered.ok()) return answered.status();
    answer = *std::move(answered);
  } else {
    if (run->plan.name.empty()) run->plan.name = std::filesystem::path(path).stem();
    auto answered = run->reduce_fixed_share ? RowsOfMapReduce(path, *run, question, now)
                                            : RowsOfPlan(*run, question, now);
    if (!answered.ok()) return answered.status();
    answer.rows = *std::move(answered);
    if (run->reduce_fixed_share) RemarkOnSlots(answer.rows);
  }
  answer.warnings.insert(answer.warnings.begin(), warnings.begin(), warnings.end());
  answer.is_damaged = run->is_damaged;
  return answer;
}

absl::Status InOptions(const absl::Status& status, const Question& question) {
  const std::string message(status.message());
  for (const Option& option : OptionsIn(question)) {
    for (const char* name : option.settings) {
      const std::string setting = name;
      if (!option.is_given || !message.starts_with(setting + ": ")) continue;
      return absl::Status(status.code(), option.name + message.substr(setting.size()));
    }
  }
  return status;
}

absl::StatusOr<std::vector<SettingsRow>> SettingsRowsOf(const Question& question) {
  if (absl::Status once = CheckOptions(question); !once.ok()) return once;
  if (absl::Status once = CheckSlots(question); !once.ok()) return once;
  if (!question.sizes.empty() && question.parameters.empty()) {
    return absl::InvalidArgumentError(
        "--size describes the effect of parameters; pass their new values with --param");
  }
  if (!question.probes.empty() && question.parameters.empty()) {
    return absl::InvalidArgumentError(
        "--probe splits a stage by the effect of parameters; pass their new values with --param");
  }
  if (!question.probes.empty() && question.sizes.empty()) {
    return absl::InvalidArgumentError(
        "--probe splits the effect of --size; pass the size of the shuffle that the stage writes "
        "with --size");
  }
  if (!question.data.empty() && question.data_factor) {
    return SetTwice("--data", "--data-factor", "the amount of data");
  }
  if (absl::Status few = CheckRows(Combinations(question)); !few.ok()) return few;
  if (absl::Status once = CheckMemory(question); !once.ok()) return once;
  std::vector<SettingsRow> rows(1);
  rows = Combined(rows, question.executors, NumberSetter({kInstances}, "executor"));
  rows = Combined(rows, question.cores, NumberSetter({kCores}, "core"));
  rows = Combined(rows, question.memory, [](const std::string& value, SettingsRow& row) {
    row.settings[kMemory] = value;
    row.parts.push_back(value + " memory");
  });
  rows = Combined(rows, question.partitions,
                  NumberSetter({kSqlPartitions, kDefaultPartitions}, "partition"));
  rows = Combined(rows, question.compress, [](const std::string& value, SettingsRow& row) {
    row.settings[kCompress] = value;
    row.parts.emplace_back(value == "true" ? "compressed" : "not compressed");
  });
  rows = Combined(rows, question.data, [](double value, SettingsRow& row) {
    row.data_factor = value;
    row.parts.push_back(fmt::format("{:g}x data", value));
  });
  for (SettingsRow& row : rows) {
    for (const auto& [name, value] : question.parameters) {
      row.parts.push_back(fmt::format("{}={}", name, value));
    }
    for (const auto& [name, value] : question.settings) {
      row.settings[name] = value;
      row.parts.push_back(fmt::format("{}={}", name, value));
    }
  }
  return rows;
}

}  // namespace tidemark::whatif
