#include "hadoop/workflow.h"

#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "hadoop/task_ids.h"

namespace tidemark::hadoop {
namespace {

constexpr std::string_view kAdjacency = "mapreduce.workflow.adjacency.";
// Hive's id of the task that moves or fetches the result. No MapReduce job follows it.
constexpr const char* kHiveMove = "Stage-0";
constexpr std::size_t kNodesMax = 1'000;
constexpr std::size_t kGraphCharsMax = 200'000;
// The part of an engine's name that fits into the name of a node.
constexpr std::size_t kEngineNameCharsMax = 48;

using Graph = std::map<std::string, std::vector<std::string>>;  // nodes before each node

bool IsDigitAt(std::string_view text, std::size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

bool IsWordAt(std::string_view text, std::size_t at) {
  return at < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
}

// Returns the end of the literal at `at`, or `at` without a literal. Literals are quoted texts and
// whole numbers or fractions that are not parts of words.
std::size_t EndOfLiteral(std::string_view text, std::size_t at) {
  if (text[at] == '\'' || text[at] == '"') {
    const std::size_t end = text.find(text[at], at + 1);
    return end == text.npos ? at : end + 1;
  }
  if (!IsDigitAt(text, at) || (at > 0 && IsWordAt(text, at - 1))) return at;
  std::size_t end = at;
  while (IsDigitAt(text, end)) ++end;
  if (IsWordAt(text, end)) return at;
  std::size_t fraction = end + 1;
  if (end >= text.size() || text[end] != '.' || !IsDigitAt(text, fraction)) return end;
  while (IsDigitAt(text, fraction)) ++fraction;
  return IsWordAt(text, fraction) ? end : fraction;
}

// Returns the query without literals, which often differ between runs, and with single spaces.
std::string WithoutLiterals(std::string_view query) {
  std::string text;
  for (std::size_t at = 0; at < query.size();) {
    const std::size_t end = EndOfLiteral(query, at);
    if (end > at) {
      text += '?';
      at = end;
      continue;
    }
    const bool is_space = std::isspace(static_cast<unsigned char>(query[at])) != 0;
    if (!is_space || !text.ends_with(' ')) text += is_space ? ' ' : query[at];
    ++at;
  }
  return text;
}

// Returns the name of a job without the number that Hadoop Streaming gives it in every run.
std::string StableName(const std::string& name) {
  constexpr std::string_view kPrefix = "streamjob";
  constexpr std::string_view kSuffix = ".jar";
  std::string stable;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + kPrefix.size();
    if (std::string_view(name).substr(at).starts_with(kPrefix) && IsDigitAt(name, end)) {
      while (IsDigitAt(name, end)) ++end;
      if (std::string_view(name).substr(end).starts_with(kSuffix)) {
        stable += kPrefix;
        at = end;
        continue;
      }
    }
    stable += name[at++];
  }
  return stable;
}

// Returns the tag without its end that differs in every run, such as a date. The end begins with a
// digit and the separators before it. Java's pattern is [-_.:]*\d[-_.:\dT]*Z?$.
std::string WithoutRunNumber(const std::string& tag) {
  constexpr std::string_view kSeparators = "-_.:";
  constexpr std::string_view kOfRun = "-_.:T0123456789";
  std::size_t end = tag.size();
  if (tag.ends_with('Z')) --end;
  const std::size_t last = std::string_view(tag).substr(0, end).find_last_not_of(kOfRun);
  std::size_t from = last == std::string::npos ? 0 : last + 1;
  while (from < end && !IsDigitAt(tag, from)) ++from;
  if (from == end) return tag;
  while (from > 0 && kSeparators.find(tag[from - 1]) != kSeparators.npos) --from;
  return tag.substr(0, from);
}

// Returns the longest prefix of whole characters with at most `units_max` UTF-16 code units, in
// which Java counts.
std::string FirstChars(std::string_view text, std::size_t units_max) {
  constexpr unsigned char kFourByteLead = 0xf0;
  std::size_t units = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool is_lead = (byte & 0xc0U) != 0x80U;
    if (!is_lead) continue;
    units += byte >= kFourByteLead ? 2 : 1;
    if (units > units_max) return std::string(text.substr(0, at));
  }
  return std::string(text);
}

std::vector<std::string> ListIn(const std::string& value) {
  std::vector<std::string> items;
  for (const absl::string_view piece : absl::StrSplit(value, ',')) {
    std::string item(absl::StripAsciiWhitespace(piece));
    if (!item.empty()) items.push_back(std::move(item));
  }
  return items;
}

std::string EngineId(const Configuration& conf) {
  constexpr std::array<std::pair<const char*, const char*>, 5> kPrefixedKeys = {
      {{"", "mapreduce.workflow.id"},
       {"hive_", "hive.query.id"},
       {"pig_", "pig.script.id"},
       {"cascading_", "cascading.flow.id"},
       {"oozie_", "oozie.job.id"}}};
  for (const auto& [prefix, key] : kPrefixedKeys) {
    const std::string id = ValueOf(conf, key);
    if (!id.empty()) return prefix + id;
  }
  return "";
}

std::string EngineName(const Configuration& conf, const std::string& job_name) {
  const std::string name = ValueOf(conf, "mapreduce.workflow.name");
  if (!ValueOf(conf, "hive.query.id").empty()) {
    return WithoutLiterals(name.empty() ? ValueOf(conf, "hive.query.string", "hive") : name);
  }
  if (!name.empty()) {
    // Pig uses the path of the script.
    const bool is_path = !ValueOf(conf, "pig.script.id").empty() && !name.ends_with('/');
    return is_path ? name.substr(name.rfind('/') + 1) : name;
  }
  if (!ValueOf(conf, "cascading.flow.id").empty()) {
    return ValueOf(conf, "cascading.flow.name", "cascading");
  }
  if (ValueOf(conf, "oozie.job.id").empty()) return job_name;
  constexpr std::string_view kWorkflow = ":W=";
  const std::size_t at = job_name.find(kWorkflow);
  const std::string rest = at == std::string::npos ? "" : job_name.substr(at + kWorkflow.size());
  const std::string in_name = rest.substr(0, rest.find(':'));
  return in_name.empty() ? "oozie" : in_name;
}

std::string EngineNode(const Configuration& conf, const std::string& job_name) {
  const std::string node = ValueOf(conf, "mapreduce.workflow.node.name");
  if (!node.empty()) return node;
  const std::string step = ValueOf(conf, "cascading.flow.step.num");
  if (!step.empty()) return "step " + step;
  const std::string action = ValueOf(conf, "oozie.action.id");
  return action.empty() ? job_name : action.substr(action.find('@') + 1);
}

// Removes the move of Hive's result and the tasks after it, which are not MapReduce jobs. O(edges x
// log(nodes)).
void RemoveMoves(Graph& graph) {
  Graph followers;
  for (const auto& [node, after] : graph) {
    for (const std::string& before : after) followers[before].push_back(node);
  }
  std::vector<std::string> moves = {kHiveMove};
  while (!moves.empty()) {
    const std::string move = std::move(moves.back());
    moves.pop_back();
    if (graph.erase(move) == 0) continue;
    for (std::string& node : followers[move]) moves.push_back(std::move(node));
  }
}

// Sets the nodes, unless the graph is too large or does not contain the job.
void AddGraph(const Configuration& conf, JobWorkflow& workflow) {
  Graph graph;
  std::size_t chars = 0;
  for (auto at = conf.lower_bound(kAdjacency); at != conf.end(); ++at) {
    if (!at->first.starts_with(kAdjacency)) break;
    const std::string node = at->first.substr(kAdjacency.size());
    graph.try_emplace(node);
    for (const std::string& next : ListIn(at->second)) {
      graph[next].push_back(node);
      chars += node.size() + next.size();
    }
  }
  if (!ValueOf(conf, "hive.query.id").empty()) RemoveMoves(graph);
  if (graph.size() > kNodesMax || chars > kGraphCharsMax) return;
  if (!graph.contains(workflow.node)) return;
  for (const auto& [node, after] : graph) workflow.nodes.push_back({node, after});
}

std::optional<JobWorkflow> WorkflowOfEngine(const Configuration& conf,
                                            const std::string& job_name) {
  JobWorkflow workflow = {.id = EngineId(conf)};
  if (workflow.id.empty()) return std::nullopt;
  workflow.name = EngineName(conf, job_name);
  workflow.node = EngineNode(conf, job_name);
  AddGraph(conf, workflow);
  workflow.parent_job_ids = ListIn(ValueOf(conf, "pig.parent.jobid"));
  return workflow;
}

// Returns the user's workflow. The nodes of an engine's workflow within it get its name.
std::optional<JobWorkflow> WorkflowOfTag(const Configuration& conf, const std::string& tag,
                                         const std::optional<JobWorkflow>& named,
                                         const std::string& job_name) {
  const std::string without_run = WithoutRunNumber(tag);
  JobWorkflow workflow = {.id = tag};
  workflow.name = ValueOf(conf, "tidemark.workflow.name", without_run.empty() ? tag : without_run);
  const std::string quiet_text = ValueOf(conf, "tidemark.workflow.quiet.seconds", "0");
  const auto quiet = quiet_text.starts_with('-') ? std::optional(0U) : ParseNumber(quiet_text);
  if (!quiet) return std::nullopt;
  workflow.quiet = absl::Seconds(*quiet);
  workflow.node = job_name;
  if (!named) return workflow;
  const std::string suffix = " of " + FirstChars(named->name, kEngineNameCharsMax);
  workflow.node = named->node + suffix;
  workflow.nodes = named->nodes;
  for (WorkflowNode& node : workflow.nodes) {
    node.name += suffix;
    for (std::string& before : node.after) before += suffix;
  }
  workflow.parent_job_ids = named->parent_job_ids;
  return workflow;
}

}  // namespace

std::optional<JobWorkflow> WorkflowOf(const Configuration& configuration,
                                      const std::string& job_name) {
  const std::string name = StableName(job_name);
  std::optional<JobWorkflow> named = WorkflowOfEngine(configuration, name);
  const std::string tag = ValueOf(configuration, "tidemark.workflow.id");
  return tag.empty() ? named : WorkflowOfTag(configuration, tag, named, name);
}

}  // namespace tidemark::hadoop
