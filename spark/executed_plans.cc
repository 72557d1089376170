#include "spark/executed_plans.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "spark/connector_parity.h"
#include "spark/event_scanner.h"
#include "spark/log_reader.h"

namespace tidemark::spark {
namespace {

using advise::PastOperator;
using advise::PastPlan;
using nlohmann::json;

constexpr double kMilli = 1e-3;
constexpr double kNano = 1e-9;
// Longest plausible duration of a stage, in seconds.
constexpr double kStageSecondsMax = 365 * 24 * 3600.0;
// Assumed compression ratio of LZ4 for shuffles (docs/internals/phases.md).
constexpr double kShuffleCompression = 2;
// Maximum assumed start-up time of an executor, in seconds, for stages without other tasks. Chosen
// by hand.
constexpr double kStartUpMost = 5;

std::optional<std::uint64_t> WholeNumber(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  std::uint64_t number = 0;
  if (value.is_string() && absl::SimpleAtoi(value.get_ref<const std::string&>(), &number)) {
    return number;
  }
  return std::nullopt;
}

double Amount(const json& object, const char* name) {
  return static_cast<double>(Count(object, name).value_or(0));
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

bool IsOfEngine(std::string_view frame) {
  static constexpr std::string_view kEngines[] = {
      "org.apache.spark.", "java.", "java/", "jdk.", "sun.", "scala.", "py4j.",
      "org.sparkproject."};
  return std::any_of(std::begin(kEngines), std::end(kEngines),
                     [&](std::string_view engine) { return frame.starts_with(engine); });
}

// Returns the line of the program: the first complete stack frame outside Spark, Java, Scala and
// Python or, without one, the first line of the description.
std::string LineOf(const std::string& description, std::string_view stack) {
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find('\n'), stack.size());
    const std::string_view frame = stack.substr(0, end);
    // The last frame may be incomplete.
    if (end < stack.size() && !frame.empty() && !IsOfEngine(frame)) return std::string(frame);
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return FirstLine(description);
}

bool IsRead(const std::string& metric) {
  return absl::StrContains(metric, "read") || absl::StrContains(metric, "fetch") ||
         absl::StrContains(metric, "merged") || metric == "remote reqs duration";
}

// Returns the table that a source reads: its name in the catalog, or the location of its files.
// Returns "" if the plan contains neither.
std::string TableOf(const std::string& node, const json& metadata) {
  std::vector<std::string> words = absl::StrSplit(node, ' ', absl::SkipWhitespace());
  const bool is_scan = !words.empty() && absl::EndsWith(words[0], "Scan");
  if (!is_scan && !absl::StartsWith(node, "FileScan")) return "";
  if (words.size() >= 2 && absl::StartsWith(words[1], "ExistingRDD")) return "";
  if (words[0] == "LocalTableScan") return "";
  if (words.size() >= 3) return words[2];
  std::string location = Text(metadata, "Location");
  const std::size_t bracket = location.find('[');
  if (bracket != std::string::npos && absl::EndsWith(location, "]")) {
    return location.substr(bracket + 1, location.size() - bracket - 2);
  }
  if (!location.empty()) return location;
  return words[0] == "Scan" && words.size() == 2 && absl::StrContains(words[1], "(") ? words[1]
                                                                                     : "";
}

// Returns the columns and filters of a source, excluding its format and batching.
std::string SourceText(const std::string& text, const json& metadata) {
  std::string kept = text;
  for (const char* end : {" Batched:", " DataFilters:", " Format:", ", Format:"}) {
    kept = kept.substr(0, kept.find(end));
  }
  for (const char* name : {"PartitionFilters", "PushedFilters", "DataFilters", "ReadSchema"}) {
    const std::string value = Text(metadata, name);
    if (!value.empty() && value != "[]") absl::StrAppend(&kept, " ", name, ": ", value);
  }
  return kept;
}

PastOperator OperatorOf(const json& node) {
  const json& metadata = Member(node, "metadata");
  PastOperator op = {.name = Text(node, "nodeName"), .text = Text(node, "simpleString")};
  op.is_cut =
      absl::StrContains(op.text, " more fields") || op.text.size() >= EventScanner::kStringMax;
  const json& children = Member(node, "children");
  if (!children.is_array() || children.empty()) {
    op.table = TableOf(op.name, metadata);
    if (!op.table.empty()) op.text = SourceText(op.text, metadata);
    if (!Text(metadata, "ReadSchema").empty()) op.is_cut = false;
  }
  return op;
}

std::optional<std::uint64_t> ExecutionOf(const json& event) {
  return WholeNumber(Member(event, "executionId"));
}

bool MakesShuffle(const std::string& rdd) { return absl::StartsWith(rdd, "Shuffled"); }

}  // namespace

void ExecutedPlans::Observe(const SparkEvent& event) {
  const json& fields = event.fields();
  switch (event.kind()) {
    case EventKind::kTaskEnd:
      return OnTaskEnd(event.task_end());
    case EventKind::kStageCompleted:
      return StageCompleted(fields);
    case EventKind::kExecutionStart:
      return ExecutionStart(fields);
    case EventKind::kExecutionUpdate: {
      const auto id = ExecutionOf(fields);
      const auto found = id ? executions_.find(*id) : executions_.end();
      if (found != executions_.end()) SetPlan(found->second, Member(fields, "sparkPlanInfo"));
      return;
    }
    case EventKind::kExecutionEnd:
      return ExecutionEnd(fields);
    case EventKind::kDriverCounts:
      return DriverCounts(fields);
    case EventKind::kJobStart:
      return JobStart(fields);
    case EventKind::kJobEnd:
      return JobEnd(fields);
    case EventKind::kApplicationStart:
      application_ = Text(fields, "App ID");
      program_ = Text(fields, "App Name");
      run_ = absl::StrCat(application_, "\n", Text(fields, "App Attempt ID"), "\n", program_, "\n",
                          Count(fields, "Timestamp").value_or(0));
      return;
    default:
      return;
  }
}

void ExecutedPlans::ExecutionStart(const json& event) {
  const auto id = ExecutionOf(event);
  const auto time = WholeNumber(Member(event, "time"));
  if (!id || !time || executions_.size() >= kExecutionsMax || executions_.contains(*id)) return;
  Execution& execution = executions_[*id];
  execution.plan.execution = absl::StrCat("sql/", *id);
  execution.plan.begin = static_cast<double>(*time) * kMilli;
  execution.plan.line = LineOf(Text(event, "description"), Text(event, "details"));
  SetPlan(execution, Member(event, "sparkPlanInfo"));
}

void ExecutedPlans::ExecutionEnd(const json& event) {
  const auto id = ExecutionOf(event);
  const auto found = id ? executions_.find(*id) : executions_.end();
  if (found == executions_.end()) return;
  Execution& execution = found->second;
  execution.has_ended = true;
  execution.is_reported = Member(event, "errorMessage").is_string();
  if (execution.is_reported) execution.has_failed = !Text(event, "errorMessage").empty();
}

// Stores the operators of the plan in the execution, each before its inputs.
void ExecutedPlans::SetPlan(Execution& execution, const json& root) {
  if (!root.is_object()) return;
  operators_ -= execution.plan.operators.size();
  execution.plan.operators.clear();
  execution.metrics.clear();
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::pair<const json*, std::size_t>> left = {{&root, kNone}};
  std::vector<PastOperator>& operators = execution.plan.operators;
  while (!left.empty()) {
    const auto [node, reader] = left.back();
    left.pop_back();
    // Keeps one operator more than the limit, so that the plan is rejected as too large.
    if (operators.size() > advise::kOperatorsMax || operators_ >= kOperatorsMax) break;
    const std::size_t at = operators.size();
    operators.push_back(OperatorOf(*node));
    ++operators_;
    if (reader != kNone) operators[reader].inputs.push_back(at);
    if (const json& metrics = Member(*node, "metrics"); metrics.is_array()) {
      for (const json& metric : metrics) {
        const auto accumulator = WholeNumber(Member(metric, "accumulatorId"));
        if (!accumulator) continue;
        const std::string name = Text(metric, "name");
        Metric::Kind kind = Metric::Kind::kOther;
        const bool is_exchange = absl::EndsWith(operators[at].name, "Exchange");
        if (name == "number of output rows") {
          kind = Metric::Kind::kRecords;
        } else if (name == "data size" || name == "size of files read") {
          kind = Metric::Kind::kBytes;
        } else if (name == "shuffle records written") {
          kind = Metric::Kind::kWrittenRecords;
        } else if (is_exchange && IsRead(name)) {
          kind = Metric::Kind::kRead;
        }
        execution.metrics.push_back({at, *accumulator, kind});
      }
    }
    const json& children = Member(*node, "children");
    if (children.is_array()) {
      // Pushes the first input last, so that it is visited first.
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        left.emplace_back(&*child, at);
      }
    } else if (node->is_object() && node->contains("children")) {
      // EventScanner cut the plan here, which makes it too deep to compare.
      operators.resize(advise::kOperatorsMax + 1);
      operators_ += operators.size() - at - 1;
      break;
    }
  }
}

// Returns true if the plan of the job's execution is known. Old versions of Spark do not log plans.
bool ExecutedPlans::IsOfKnownExecution(const Job& job) const {
  return job.execution && executions_.contains(*job.execution);
}

void ExecutedPlans::JobStart(const json& event) {
  const auto id = Number(event, "Job ID");
  const json& infos = Member(event, "Stage Infos");
  if (!id || !infos.is_array() || jobs_.size() >= kStagesMax || jobs_.contains(*id)) return;
  const json& properties = Member(event, "Properties");
  Job& job = jobs_[*id];
  job.execution = WholeNumber(Member(properties, "spark.sql.execution.id"));
  job_begins_[*id] = Amount(event, "Submission Time") * kMilli;
  std::string last;
  std::uint32_t highest = 0;
  for (const json& info : infos) {
    const auto number = Number(info, "Stage ID");
    if (!number || stages_.size() >= kStagesMax) continue;
    job.stages.push_back(*number);
    Stage& stage = stages_[*number];
    if (last.empty() || *number >= highest) {
      highest = *number;
      last = Text(info, "Stage Name");
    }
    const json& rdds = Member(info, "RDD Info");
    if (!rdds.is_array() || IsOfKnownExecution(job)) continue;
    for (const json& rdd : rdds) {
      const auto rdd_id = Count(rdd, "RDD ID");
      if (!rdd_id || operators_ >= kOperatorsMax) continue;
      if (!stage.rdds.contains(*rdd_id)) ++operators_;
      Rdd& known = stage.rdds[*rdd_id];
      known.name = Text(rdd, "Name");
      known.callsite = Text(rdd, "Callsite");
      const json scope = json::parse(Text(rdd, "Scope"), nullptr, /*allow_exceptions=*/false);
      known.scope = Text(scope, "name");
      // An RDD has the same contents whenever it is computed, but another RDD of the same source
      // line may differ.
      std::vector<std::uint64_t>& of_line =
          rdds_of_line_[absl::StrCat(known.scope, " ", known.name, " ", known.callsite)];
      const auto at = std::find(of_line.begin(), of_line.end(), *rdd_id);
      known.occurrence = static_cast<std::size_t>(at - of_line.begin()) + 1;
      if (at == of_line.end()) of_line.push_back(*rdd_id);
      known.parents.clear();
      if (const json& parents = Member(rdd, "Parent IDs"); parents.is_array()) {
        for (const json& parent : parents) {
          if (const auto number_of = WholeNumber(parent)) known.parents.push_back(*number_of);
        }
      }
    }
  }
  const std::string description = FirstLine(Text(properties, "spark.job.description"));
  job_lines_[*id] = description.empty() ? last : description;
}

void ExecutedPlans::JobEnd(const json& event) {
  const auto id = Number(event, "Job ID");
  const auto job = id ? jobs_.find(*id) : jobs_.end();
  if (job == jobs_.end()) return;
  const json& result = Member(event, "Job Result");
  job->second.is_done = Text(result, "Result") != "JobFailed";
  if (job->second.is_done || !job->second.execution) return;
  const auto execution = executions_.find(*job->second.execution);
  if (execution == executions_.end() || execution->second.is_reported) return;
  if (!IsCancelledByItsQuery(Text(Member(result, "Exception"), "Message"))) {
    execution->second.has_failed = true;
  }
}

ExecutedPlans::Counter* ExecutedPlans::CounterOf(std::uint64_t accumulator) {
  if (counters_.size() >= kCountersMax && !counters_.contains(accumulator)) return nullptr;
  return &counters_[accumulator];
}

void ExecutedPlans::StageCompleted(const json& event) {
  const json& info = Member(event, "Stage Info");
  const auto number = Number(info, "Stage ID");
  const auto submitted = Count(info, "Submission Time");
  const auto completed = Count(info, "Completion Time");
  if (!number || !submitted || !completed || !Text(info, "Failure Reason").empty()) return;
  if (stages_.size() >= kStagesMax && !stages_.contains(*number)) return;
  Stage& stage = stages_[*number];
  stage.run.begin = static_cast<double>(*submitted) * kMilli;
  stage.run.end = static_cast<double>(*completed) * kMilli;
  const double seconds = stage.run.end - stage.run.begin;
  stage.has_run = seconds >= 0 && seconds <= kStageSecondsMax;
  const json& counts = Member(info, "Accumulables");
  if (!counts.is_array()) return;
  for (const json& count : counts) {
    const auto accumulator = Count(count, "ID");
    if (!accumulator || Text(count, "Metadata") != "sql") continue;
    Counter* const counter = CounterOf(*accumulator);
    if (counter == nullptr) return;
    const auto value = WholeNumber(Member(count, "Value"));
    if (value) counter->value = std::max(counter->value, static_cast<double>(*value));
    if (counter->stages.empty() || counter->stages.back() != *number) {
      counter->stages.push_back(*number);
    }
  }
}

void ExecutedPlans::DriverCounts(const json& event) {
  const json& updates = Member(event, "accumUpdates");
  if (!updates.is_array()) return;
  for (const json& update : updates) {
    if (!update.is_array() || update.size() != 2) continue;
    const auto accumulator = WholeNumber(update[0]);
    const auto value = WholeNumber(update[1]);
    Counter* const counter = accumulator && value ? CounterOf(*accumulator) : nullptr;
    if (counter != nullptr) {
      counter->value = std::max(counter->value, static_cast<double>(*value));
    }
  }
}

void ExecutedPlans::OnTaskEnd(const TaskEnd& task) {
  if (!task.has_counters()) return;
  if (stages_.size() >= kStagesMax && !stages_.contains(*task.stage)) return;
  Stage& stage = stages_[*task.stage];
  const json& input = Member(task.metrics, "Input Metrics");
  const json& written = Member(task.metrics, "Shuffle Write Metrics");
  stage.run.task_seconds += Amount(task.metrics, "Executor Run Time") * kMilli;
  stage.run.shuffle_write_seconds += Amount(written, "Shuffle Write Time") * kNano;
  stage.run.read_bytes += Amount(input, "Bytes Read");
  stage.read_records += Amount(input, "Records Read");
  stage.written_bytes += Amount(written, "Shuffle Bytes Written");
  const std::optional<double> ran = task.seconds();
  if (!ran || stage.tasks.size() >= kTasksOfStageMax) return;
  const double seconds = *ran;
  const std::uint64_t launched = *task.launched_ms;
  // Tasks that start in the first half of an executor's first task also count as start-up. The
  // limit is not the end of the first task, since the next task starts a moment before the driver
  // records that end.
  const bool is_new = start_ups_.size() < kExecutorsMax && !start_ups_.contains(task.executor);
  if (is_new) start_ups_[task.executor] = launched + (*task.finished_ms - launched) / 2;
  const auto start_up = start_ups_.find(task.executor);
  if (start_up != start_ups_.end() && launched <= start_up->second) {
    stage.longest_first = std::max(stage.longest_first, seconds);
    stage.loading =
        std::max(stage.loading, Amount(task.metrics, "Executor Deserialize Time") * kMilli);
  } else {
    stage.tasks.push_back(seconds);
  }
}

// Estimates the start-up time in each stage as the time by which its first tasks took longer than
// its other tasks. That time includes loading code, which Spark measures and which is the lower
// bound, and running the stage's code for the first time.
void ExecutedPlans::FindStartUps() {
  for (auto& [number, stage] : stages_) {
    if (stage.longest_first == 0) continue;
    double typical = std::min(stage.longest_first, kStartUpMost);
    double most = typical;
    if (!stage.tasks.empty()) {
      std::sort(stage.tasks.begin(), stage.tasks.end());
      typical = stage.longest_first - stage.tasks[stage.tasks.size() / 2];
      most = stage.longest_first - stage.tasks.front();
    }
    const double least = std::min(stage.loading, stage.longest_first);
    typical = std::max(typical, least);
    stage.run.start_up = {least, (least + typical) / 2, std::max(most, typical)};
  }
}

// Sets the operators' counters and stages.
void ExecutedPlans::Fill(Execution& execution) const {
  PastPlan& plan = execution.plan;
  std::vector<std::optional<double>> written(plan.operators.size());
  std::map<std::uint32_t, std::size_t> sources;  // per stage
  for (const Metric& metric : execution.metrics) {
    const auto counter = counters_.find(metric.accumulator);
    if (counter == counters_.end()) continue;
    PastOperator& op = plan.operators[metric.op];
    if (metric.kind == Metric::Kind::kRecords) op.records = counter->second.value;
    if (metric.kind == Metric::Kind::kBytes) op.bytes = counter->second.value;
    if (metric.kind == Metric::Kind::kWrittenRecords) op.records = counter->second.value;
    if (metric.kind == Metric::Kind::kRead) continue;
    for (const std::uint32_t stage : counter->second.stages) {
      if (std::find(op.stages.begin(), op.stages.end(), stage) == op.stages.end()) {
        op.stages.push_back(stage);
      }
    }
  }
  for (const PastOperator& op : plan.operators) {
    for (const std::uint32_t number : op.stages) {
      const auto stage = stages_.find(number);
      if (stage == stages_.end() || !stage->second.has_run) continue;
      plan.stages[number] = stage->second.run;
      if (op.inputs.empty()) ++sources[number];
    }
  }
  for (PastOperator& op : plan.operators) {
    if (!op.inputs.empty() || op.stages.size() != 1 || sources[op.stages[0]] != 1) continue;
    const auto stage = stages_.find(op.stages[0]);
    if (stage == stages_.end()) continue;
    if (!op.bytes && stage->second.run.read_bytes > 0) op.bytes = stage->second.run.read_bytes;
  }
}

std::optional<PastPlan> ExecutedPlans::LineageOf(std::uint32_t number, const Job& job) const {
  PastPlan plan = {.execution = absl::StrCat("job/", number),
                   .line = job_lines_.at(number),
                   .begin = job_begins_.at(number),
                   .is_lineage = true};
  std::map<std::uint64_t, std::size_t> operator_of;
  std::vector<const Rdd*> rdds;
  for (const std::uint32_t stage_number : job.stages) {
    const auto stage = stages_.find(stage_number);
    if (stage == stages_.end()) continue;
    if (stage->second.has_run) plan.stages[stage_number] = stage->second.run;
    std::set<std::uint64_t> read;
    for (const auto& [id, rdd] : stage->second.rdds) {
      read.insert(rdd.parents.begin(), rdd.parents.end());
      const auto [at, is_new] = operator_of.try_emplace(id, plan.operators.size());
      if (is_new) {
        plan.operators.push_back(
            {.name = rdd.scope.empty() ? rdd.name : rdd.scope,
             .text = absl::StrCat(
                 rdd.name, " ", rdd.callsite,
                 rdd.occurrence > 1 ? absl::StrCat(" (occurrence ", rdd.occurrence, ")") : "")});
        rdds.push_back(&rdd);
      }
      if (stage->second.has_run) plan.operators[at->second].stages.push_back(stage_number);
    }
  }
  for (std::size_t at = 0; at < rdds.size(); ++at) {
    PastOperator& op = plan.operators[at];
    double shuffled = 0;
    for (const std::uint64_t parent : rdds[at]->parents) {
      const auto input = operator_of.find(parent);
      if (input == operator_of.end()) continue;
      op.inputs.push_back(input->second);
      for (const std::uint32_t stage : plan.operators[input->second].stages) {
        shuffled += stages_.at(stage).written_bytes;
      }
    }
    if (MakesShuffle(rdds[at]->name) && shuffled > 0) op.bytes = shuffled * kShuffleCompression;
    if (!op.inputs.empty()) continue;
    // Spark names an RDD that reads files by its path.
    if (!absl::EndsWith(rdds[at]->name, "RDD")) op.table = rdds[at]->name;
    if (op.stages.size() != 1) continue;
    const Stage& stage = stages_.at(op.stages[0]);
    if (stage.run.read_bytes > 0) op.bytes = stage.run.read_bytes;
    if (stage.read_records > 0) op.records = stage.read_records;
  }
  if (plan.operators.empty() || plan.stages.empty()) return std::nullopt;
  return plan;
}

std::vector<PastPlan> ExecutedPlans::Finish() {
  FindStartUps();
  std::vector<PastPlan> plans;
  for (auto& [id, execution] : executions_) {
    if (!execution.has_ended || execution.has_failed || execution.plan.operators.empty()) {
      ++left_out_;
      continue;
    }
    Fill(execution);
    plans.push_back(std::move(execution.plan));
  }
  for (const auto& [number, job] : jobs_) {
    if (IsOfKnownExecution(job)) continue;
    if (!job.is_done) {
      ++left_out_;
      continue;
    }
    if (auto plan = LineageOf(number, job)) plans.push_back(*std::move(plan));
  }
  for (PastPlan& plan : plans) {
    plan.application = application_;
    plan.program = program_;
    plan.is_of_partial_run = left_out_ > 0;
  }
  std::stable_sort(plans.begin(), plans.end(),
                   [](const PastPlan& a, const PastPlan& b) { return a.begin < b.begin; });
  return plans;
}

absl::StatusOr<PlansOfLog> ReadPlans(const std::string& path) {
  absl::StatusOr<std::vector<std::string>> files = FilesOfLog(path);
  if (!files.ok()) return files.status();
  return ReadPlans(LogFiles{.path = path, .files = *std::move(files)});
}

absl::StatusOr<PlansOfLog> ReadPlans(const LogFiles& log) {
  ExecutedPlans plans;
  const auto reader = LogReader::Open(log, {.plans = &plans});
  if (!reader.ok()) return reader.status();
  PlansOfLog read;
  for (auto event = (*reader)->Next();; event = (*reader)->Next()) {
    if (absl::IsDataLoss(event.status()) && (*reader)->counts().events > 0) {
      read.damage = event.status();
      break;
    }
    if (!event.ok()) return event.status();
    if (!*event) break;
  }
  read.plans = plans.Finish();
  for (advise::PastPlan& plan : read.plans) plan.is_of_partial_run |= !read.damage.ok();
  read.run = plans.run();
  read.events = (*reader)->counts().events;
  read.left_out = plans.left_out();
  read.remarks = RemarksOn(**reader, /*rejected=*/0);
  return read;
}

}  // namespace tidemark::spark
