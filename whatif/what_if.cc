#include "whatif/what_if.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "text/counted.h"
#include "text/duration_text.h"
#include "whatif/phases/settings.h"
#include "whatif/plan_estimate.h"
#include "whatif/spark_models.h"
#include "whatif/spark_run.h"

namespace tidemark::whatif {
namespace {

// Largest number of rows of an answer, as a table for people.
constexpr double kRowsMax = 1000;

constexpr char kInstances[] = "spark.executor.instances";
constexpr char kCores[] = "spark.executor.cores";
constexpr char kMemory[] = "spark.executor.memory";
constexpr char kCompress[] = "spark.shuffle.compress";
constexpr char kSqlPartitions[] = "spark.sql.shuffle.partitions";
constexpr char kDefaultPartitions[] = "spark.default.parallelism";

absl::Status SetTwice(const std::string& one, const std::string& other, const char* what) {
  return absl::InvalidArgumentError(
      fmt::format("{} and {} both set {}; leave one of them out", one, other, what));
}

struct Option {
  const char* name;
  bool is_given;
  std::vector<const char*> settings;  // changed by the option
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

// Returns a function that adds a number of something to a row.
auto NumberSetter(std::vector<const char*> settings, const char* noun) {
  return [settings = std::move(settings), noun](std::uint32_t value, SettingsRow& row) {
    for (const char* setting : settings) row.settings[setting] = std::to_string(value);
    row.parts.push_back(text::Counted(value, noun));
  };
}

// Returns an error if --memory has a size twice, in any units. Its row rejects an invalid size.
absl::Status CheckMemory(const Question& question) {
  std::map<std::uint64_t, std::string> seen;
  for (const std::string& value : question.memory) {
    const auto bytes = phases::ParseBytes(value, phases::kMib);
    if (!bytes.ok()) continue;
    const auto [same, is_new] = seen.try_emplace(*bytes, value);
    if (is_new) continue;
    return absl::InvalidArgumentError(
        fmt::format("--memory: {} and {} are the same size; leave one out", same->second, value));
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
  if (parts.empty()) return "as asked";  // if a master does not report the slots
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

absl::StatusOr<Row> RowOf(const ModelledRun& run, const Scenario& scenario,
                          const SettingsRow& changes, const std::string& name, absl::Time now) {
  auto outcome = EstimateStages(run.plan, scenario, now, run.deviation);
  if (!outcome.ok()) return outcome.status();
  outcome->slots = scenario.slots.value_or(run.slots);
  outcome->executors = run.executors;
  Row row = {.name = name,
             .outcome = *std::move(outcome),
             .remarks = run.remarks,
             .settings = changes.settings,
             .data_factor = changes.data_factor,
             .binding = run.binding};
  if (const auto& remaining = row.outcome.snapshot.estimate.remaining) {
    const double cores = run.cores > 0 ? run.cores : row.outcome.slots;
    row.core_hours = absl::ToDoubleHours(remaining->median) * cores;
  }
  return row;
}

absl::StatusOr<Row> UnchangedRow(const SparkRun& run, absl::Time now) {
  const auto settings = SettingsOf(run.measured, {});
  if (!settings.ok()) return settings.status();
  const std::uint32_t slots = run.plan.cluster.slots;
  const std::uint32_t executors = settings->ran.executors;
  const Outcome had = {.slots = slots, .executors = executors};
  const double cores = settings->ran.cores();
  return RowOf({.plan = run.plan, .slots = slots, .executors = executors, .cores = cores}, {}, {},
               AsItIs(SizesOf(had, /*has_executors=*/true)), now);
}

// Returns true if the row changes nothing of the run. `asked`: its settings.
bool IsUnchanged(const SparkRun& run, const Question& question, const Scenario& scenario,
                 const SettingsRow& row, const SettingsPair& asked) {
  const std::uint32_t slots = run.plan.cluster.slots;
  if (scenario.policy || scenario.slots.value_or(slots) != slots) return false;
  if (scenario.data_factor.value_or(1) != 1 || row.data_factor.value_or(1) != 1) return false;
  const std::map<std::string, std::string>& known = run.measured.parameters();
  for (const auto& [name, value] : question.parameters) {
    const auto parameter = known.find(name);
    if (parameter == known.end() || parameter->second != value) return false;
  }
  return asked.other == asked.ran && asked.of_changes.empty();
}

// Returns the row of the unchanged run under the name of a row that changes nothing.
Row SameAsRun(Row row, const SettingsRow& changes, const std::string& name) {
  row.name = name;
  row.settings = changes.settings;
  row.data_factor = changes.data_factor;
  row.remarks = {"same values as in the run, so this row is the run itself"};
  return row;
}

// The models that answer a question, from one run or from several.
class Models {
 public:
  // `run` outlives the models. Adds the remarks on further logs to `warnings`.
  static absl::StatusOr<Models> Learn(const std::string& path, const SparkRun& run,
                                      const Question& question,
                                      std::vector<std::string>& warnings) {
    Models models;
    const bool needs_several = !question.partitions.empty() || !question.data.empty() ||
                               !question.learn.empty() || !question.parameters.empty();
    if (!needs_several) {
      auto learnt = SparkRunModels::Learn(run);
      if (!learnt.ok()) return learnt.status();
      models.one_.emplace(*std::move(learnt));
      return models;
    }
    std::vector<SparkRun> runs = {run};
    std::vector<std::string> paths = {path};
    for (const std::string& other_path : question.learn) {
      auto other = ReadSparkRun(other_path);
      if (!other.ok()) return other.status();
      for (const std::string& remark : other->remarks) {
        warnings.push_back(fmt::format("{}: {}", other_path, remark));
      }
      runs.push_back(*std::move(other));
      paths.push_back(other_path);
    }
    auto learnt = SparkRuns::Learn(std::move(runs), paths);
    if (!learnt.ok()) return learnt.status();
    models.several_.emplace(*std::move(learnt));
    return models;
  }

  absl::StatusOr<ModelledRun> With(const SettingsRow& row, const Question& question) const {
    if (one_) return one_->With(row.settings);
    return several_->With(row.settings, row.data_factor.value_or(1), question.parameters);
  }

  // Returns the duration of the unchanged run by the models of several runs. Returns nullopt for
  // the models of one run, which predict the run itself, and if there is no estimate.
  absl::StatusOr<std::optional<absl::Duration>> Unchanged(absl::Time now) const {
    if (!several_) return std::nullopt;
    const auto same = several_->With({}, /*data_factor=*/1, {});
    if (!same.ok()) return same.status();
    const auto row = RowOf(*same, {.slots = same->slots}, {}, "", now);
    if (!row.ok()) return row.status();
    const auto& remaining = row->outcome.snapshot.estimate.remaining;
    return remaining ? std::optional(remaining->median) : std::nullopt;
  }

 private:
  std::optional<SparkRunModels> one_;
  std::optional<SparkRuns> several_;
};

// Adds a remark that rows are compared with the models' duration of the unchanged run.
void RemarkOnComparison(absl::Duration modelled, std::vector<Row>& rows) {
  const auto is_compared = [](const Row& row) { return row.as_it_is.has_value(); };
  if (std::ranges::none_of(rows, is_compared)) return;
  rows[0].remarks.push_back(
      fmt::format("changed rows come from models, which predict {} for the unchanged run; "
                  "SPEED-UP compares with that value",
                  text::DurationText(modelled + absl::Milliseconds(500))));
}

constexpr char kMemoryInLocalMode[] =
    "the run was in local mode, where all tasks use the driver's memory: the memory of executors "
    "has no effect";

// Answers questions about settings of Spark from one run.
class SettingsAnswer {
 public:
  SettingsAnswer(const std::string& path, const SparkRun& run, const Question& question,
                 absl::Time now)
      : path_(path), run_(run), question_(question), now_(now) {}

  absl::StatusOr<Answer> Compute() {
    if (question_.slots.size() > 1) {
      return absl::InvalidArgumentError(
          "--slots accepts one number in combination with settings of Spark");
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
    const auto unchanged = UnchangedRow(run_, now_);
    if (!unchanged.ok()) return unchanged.status();
    const auto modelled = models->Unchanged(now_);
    if (!modelled.ok()) return modelled.status();
    answer.rows = {*unchanged};
    for (const SettingsRow& row : *changes) {
      if (row.parts.empty() && scenario_ == Scenario()) continue;  // the unchanged row
      auto changed = ChangedRow(row, *models, *unchanged, *modelled);
      if (!changed.ok()) return InOptions(changed.status(), question_);
      answer.rows.push_back(*std::move(changed));
    }
    if (*modelled) RemarkOnComparison(**modelled, answer.rows);
    return answer;
  }

 private:
  absl::StatusOr<Row> ChangedRow(const SettingsRow& row, const Models& models, const Row& unchanged,
                                 std::optional<absl::Duration> modelled) {
    // Checks every value, even if it has no effect.
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
      }
      changed = RowOf(*other, scenario, row, name, now_);
      if (!changed.ok()) return changed;
      changed->as_it_is = modelled;
    }
    if (has_idle_memory) changed->remarks.emplace_back(kMemoryInLocalMode);
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
  add("--learn", !learn.empty());
  add("--conf", !settings.empty());
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

absl::StatusOr<std::vector<Row>> AnswerFromPlan(const Plan& plan, const Question& question,
                                                absl::Time now) {
  std::vector<Outcome> outcomes;
  for (const Scenario& scenario : ScenariosOf(question)) {
    auto outcome = EstimateStages(plan, scenario, now);
    if (!outcome.ok()) return outcome.status();
    outcomes.push_back(*std::move(outcome));
  }
  return NamedRows(question, outcomes, plan.cluster.slots);
}

absl::StatusOr<Answer> AnswerFromLog(const std::string& path, const Question& question,
                                     absl::Time now) {
  auto run = ReadSparkRun(path);
  if (!run.ok()) return run.status();
  std::vector<std::string> warnings;
  for (const std::string& remark : run->remarks) {
    warnings.push_back(fmt::format("{}: {}", path, remark));
  }
  Answer answer;
  if (question.HasSparkSettings()) {
    auto answered = SettingsAnswer(path, *run, question, now).Compute();
    if (!answered.ok()) return answered.status();
    answer = *std::move(answered);
  } else {
    if (run->plan.name.empty()) run->plan.name = std::filesystem::path(path).stem();
    auto answered = AnswerFromPlan(run->plan, question, now);
    if (!answered.ok()) return answered.status();
    answer.rows = *std::move(answered);
  }
  answer.warnings.insert(answer.warnings.begin(), warnings.begin(), warnings.end());
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
  if (!question.data.empty() && question.data_factor) {
    return SetTwice("--data", "--data-factor", "the amount of data");
  }
  if (const double count = Combinations(question); count > kRowsMax) {
    return absl::InvalidArgumentError(
        fmt::format("{:.0f} combinations of settings; ask for at most {:.0f}", count, kRowsMax));
  }
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
