#include "whatif/advise/past_plan.h"

#include <xxhash.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace tidemark::advise {
namespace {

std::uint64_t HashOf(std::string_view text) { return XXH64(text.data(), text.size(), 0); }

bool HasPrefix(const std::string& text, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return absl::StartsWith(text, prefix); });
}

bool Has(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return absl::StrContains(text, word); });
}

// Returns the operator's name since Spark 2.0, such as "Sort" for "TungstenSort".
std::string CurrentName(const std::string& name) {
  if (name == "ExternalSort") return "Sort";
  return std::string(absl::StripPrefix(name, "Tungsten"));
}

bool IsAggregate(const std::string& name) { return absl::EndsWith(name, "Aggregate"); }

bool IsLowerHalf(const PastOperator& op) {
  return IsAggregate(op.name) && Has(op.text, {"partial_", "merge_", "mode=Partial"});
}

// Returns true for a sort within partitions, which serves a join or an aggregation above it.
bool IsLocalSort(const PastOperator& op) {
  return CurrentName(op.name) == "Sort" && absl::StrContains(op.text, ", false");
}

bool IsLimit(const std::string& name) {
  return name == "CollectLimit" || name == "LocalLimit" || name == "GlobalLimit" ||
         name == "CollectTail" || name == "Limit";
}

// Returns true if the operator reads all of its input, even if its reader requests less.
bool Blocks(const PastOperator& op) {
  return IsExchange(op) || IsAggregate(op.name) || CurrentName(op.name) == "Sort" ||
         op.name == "TakeOrderedAndProject";
}

bool HasChance(const PastOperator& op) {
  return absl::StartsWith(op.name, "sample") || absl::StartsWith(op.name, "randomSplit") ||
         Has(op.text, {"rand(", "randn(", "uuid(", "shuffle(", "monotonically_increasing_id",
                       "spark_partition_id", "nondeterministic"});
}

// Returns true for a source whose text does not name its data.
bool IsUnnamedSource(const PastOperator& op) {
  return op.inputs.empty() && op.table.empty() && !absl::StartsWith(op.name, "Range");
}

std::string KindOf(const PastOperator& op, bool is_lineage) {
  if (op.inputs.empty()) return op.table.empty() ? op.name : absl::StrCat("Scan ", op.table);
  if (is_lineage) return op.name;
  if (IsAggregate(op.name)) return "Aggregate";
  if (absl::StrContains(op.name, "Join")) return "Join";
  return CurrentName(op.name);
}

// Returns the text without details of the engine's execution.
std::string Logical(const PastOperator& op, const std::string& kind) {
  if (op.inputs.empty() && !op.table.empty()) return absl::StrCat(kind, " ", op.text);
  std::string text = op.text;
  if (absl::StartsWith(text, op.name)) text = text.substr(op.name.size());
  if (kind == "Join") {
    text = absl::StrReplaceAll(text, {{", BuildRight", ""}, {", BuildLeft", ""}});
    for (const char* ending : {", false", ", true"}) {
      if (absl::EndsWith(text, ending)) text.resize(text.size() - std::string_view(ending).size());
    }
  }
  return absl::StrCat(kind, " ", absl::StripLeadingAsciiWhitespace(text));
}

bool IsWord(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Columns, each with a number, such as "tone#12" or "count(1)#30L".
class Columns {
 public:
  // Returns `text` with the number of each column replaced by its origin. New columns have
  // `origin`.
  std::string Resolve(std::string_view text, std::uint64_t origin) {
    return Rewrite(text, [&](std::string_view number) {
      const auto [known, is_new] = origins_.try_emplace(std::string(number), 0);
      if (is_new) known->second = HashOf(absl::StrCat(origin, ".", ++count_of_[origin]));
      return absl::StrCat("#", absl::Hex(known->second));
    });
  }
  static std::string Without(std::string_view text) {
    return Rewrite(text, [](std::string_view) { return std::string(); });
  }

 private:
  template <typename Replacement>
  static std::string Rewrite(std::string_view text, Replacement replacement) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at + 1;
      if (text[at] == '#') {
        while (end < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[end]))) {
          ++end;
        }
      }
      if (end == at + 1) {
        out += text[at++];
        continue;
      }
      const std::string_view number = text.substr(at + 1, end - at - 1);
      if (end < text.size() && text[end] == 'L' &&
          (end + 1 == text.size() || !IsWord(text[end + 1]))) {
        ++end;
      }
      // "[id=#12]" numbers operators.
      if (out.empty() || out.back() != '=') out += replacement(number);
      at = end;
    }
    return out;
  }

  std::map<std::string, std::uint64_t> origins_;  // by number
  std::map<std::uint64_t, int> count_of_;
};

// Returns the number of top-level items of the list in brackets after `from`, or 0 if there is no
// list.
double ItemsIn(std::string_view text, std::size_t from) {
  const std::size_t begin = text.find('[', from);
  if (begin == std::string_view::npos) return 0;
  int depth = 0;
  double items = 1;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth == 0) return at == begin + 1 ? 0 : items;
    if (c == ',' && depth == 1) ++items;
  }
  return 0;
}

double ColumnsOf(const PastOperator& op, const std::string& kind,
                 const std::vector<double>& of_inputs) {
  if (op.is_cut) return 0;
  if (op.inputs.empty() || kind == "Project") return ItemsIn(op.text, 0);
  if (kind == "Aggregate") {
    const std::size_t functions = op.text.find("functions=");
    if (functions == std::string::npos) return 0;
    return ItemsIn(op.text, 0) + ItemsIn(op.text, functions);
  }
  double columns = kind == "Filter" || kind == "Sort" || kind == "Join" || OnlyMoves(op) ? 0 : -1;
  if (columns < 0) return 0;
  for (const double input : of_inputs) {
    if (input == 0) return 0;
    columns += input;
  }
  return columns;
}

// Returns the indexes of the operators, each after its inputs. The inputs of an operator keep their
// order.
absl::StatusOr<std::vector<std::size_t>> InOrder(const PastPlan& plan) {
  const std::size_t size = plan.operators.size();
  if (size > kOperatorsMax) {
    return absl::InvalidArgumentError(absl::StrCat("the plan has ", size, " operators; at most ",
                                                   kOperatorsMax, " are compared"));
  }
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(size, State::kNew);
  std::vector<std::size_t> order;
  for (std::size_t root = 0; root < size; ++root) {
    std::vector<std::pair<std::size_t, std::size_t>> path;  // (operator, its next input)
    if (states[root] == State::kNew) path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [at, next] = path.back();
      states[at] = State::kOpen;
      if (next == plan.operators[at].inputs.size()) {
        states[at] = State::kDone;
        order.push_back(at);
        path.pop_back();
        continue;
      }
      const std::size_t input = plan.operators[at].inputs[next++];
      if (input >= size) {
        return absl::InvalidArgumentError(
            absl::StrCat("operator ", at, " reads operator ", input, "; there are ", size));
      }
      if (states[input] == State::kOpen) {
        return absl::InvalidArgumentError("operators read each other in a cycle");
      }
      if (states[input] == State::kNew) path.emplace_back(input, 0);
    }
  }
  return order;
}

// Returns the operators below a limit, if no operator in between reads all of its input. The limit
// determines how much of their output is computed.
std::vector<bool> BelowLimits(const PastPlan& plan, const std::vector<std::size_t>& order) {
  std::vector<bool> is_below(plan.operators.size(), false);
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const PastOperator& op = plan.operators[*at];
    const bool limits = IsLimit(op.name) || (is_below[*at] && !Blocks(op));
    for (const std::size_t input : op.inputs) {
      if (limits) is_below[input] = true;
    }
  }
  return is_below;
}

}  // namespace

bool IsExchange(const PastOperator& op) {
  return absl::EndsWith(op.name, "Exchange") && !absl::StartsWith(op.name, "Reused");
}

bool OnlyMoves(const PastOperator& op) {
  if (op.inputs.empty()) return false;
  return absl::EndsWith(op.name, "Exchange") || IsLocalSort(op) ||
         HasPrefix(op.name,
                   {"WholeStageCodegen", "InputAdapter", "ColumnarToRow", "RowToColumnar",
                    "AdaptiveSparkPlan", "ShuffleQueryStage", "BroadcastQueryStage",
                    "TableCacheQueryStage", "ResultQueryStage", "AQEShuffleRead",
                    "CustomShuffleReader", "CoalescedShuffleReader", "Reused", "InMemoryTableScan",
                    "ConvertToSafe", "ConvertToUnsafe", "Coalesce", "Subquery"});
}

bool HasOwnCode(const PastOperator& op) {
  return HasPrefix(op.name, {"MapElements", "MapPartitions", "FlatMap", "Python", "BatchEvalPython",
                             "BatchPythonEvaluation", "EvaluatePython", "ArrowEvalPython",
                             "AppendColumns", "MapGroups", "CoGroup", "Generate", "Execute ",
                             "WriteFiles", "ScriptTransformation", "Window"}) ||
         absl::StrContains(op.name, "Pandas") || absl::StrContains(op.name, "InPython") ||
         Has(op.text, {"UDF", "udf", "regexp", "RLIKE", "from_json", "from_csv", "from_xml",
                       "split(", "parse_url", "xpath", "collect_", "transform(", "invoke("});
}

absl::StatusOr<std::vector<NormalOperator>> NormalPlan(const PastPlan& plan) {
  const auto order = InOrder(plan);
  if (!order.ok()) return order.status();
  const std::vector<bool> is_below_limit = BelowLimits(plan, *order);
  std::vector<NormalOperator> normal;
  std::vector<std::vector<std::size_t>> stands_for(plan.operators.size());  // indexes in `normal`
  std::vector<double> columns(plan.operators.size(), 0);
  Columns known;
  for (const std::size_t at : *order) {
    const PastOperator& op = plan.operators[at];
    std::vector<std::size_t> inputs;
    std::vector<double> of_inputs;
    for (const std::size_t input : op.inputs) {
      inputs.insert(inputs.end(), stands_for[input].begin(), stands_for[input].end());
      of_inputs.push_back(columns[input]);
    }
    const std::string kind = KindOf(op, plan.is_lineage);
    columns[at] = ColumnsOf(op, kind, of_inputs);
    // This applies to lineages, too: before Spark 2.0, RDDs may be named after operators.
    const bool is_left_out = !op.inputs.empty() && (OnlyMoves(op) || IsLowerHalf(op));
    const std::string text = Logical(op, kind);
    NormalOperator here = {.kind = kind,
                           .text = Columns::Without(text),
                           .inputs = inputs,
                           .ran = at,
                           .records = op.records,
                           .columns = columns[at],
                           .is_source = op.inputs.empty()};
    std::string below = absl::StrCat(here.text, "\n");
    for (const std::size_t input : inputs) {
      absl::StrAppend(&below, absl::Hex(normal[input].signature), "\n");
    }
    const std::string resolved = known.Resolve(text, HashOf(below));
    if (is_left_out && inputs.size() == 1) {
      stands_for[at] = std::move(inputs);
      continue;
    }
    std::string whole = absl::StrCat(resolved, "\n");
    for (const std::size_t input : inputs) {
      absl::StrAppend(&whole, absl::Hex(normal[input].signature), "\n");
      if (here.bar.empty() && absl::StartsWith(normal[input].bar, "it is random")) {
        here.bar = normal[input].bar;
      }
      for (const std::string& doubt : normal[input].doubts) {
        if (std::find(here.doubts.begin(), here.doubts.end(), doubt) == here.doubts.end()) {
          here.doubts.push_back(doubt);
        }
      }
    }
    const auto doubt = [&here](const char* what) {
      if (std::find(here.doubts.begin(), here.doubts.end(), what) == here.doubts.end()) {
        here.doubts.emplace_back(what);
      }
    };
    if (op.is_cut) doubt("the log truncates its description; compare the columns");
    if (plan.is_lineage || (!op.inputs.empty() && HasOwnCode(op))) {
      doubt("the log identifies functions of the program only by name and line; compare them");
      absl::StrAppend(&whole, plan.program, "\n");
    }
    // Columns of a DataFrame keep their numbers, so a DataFrame is recognized within one
    // application.
    if (IsUnnamedSource(op) && !plan.is_lineage) {
      absl::StrAppend(&whole, plan.application, "\n", op.text, "\n");
    }
    here.signature = HashOf(whole);
    if (HasChance(op)) here.bar = "it is random, so each run gives a different result";
    if (here.bar.empty() && is_below_limit[at]) {
      here.bar = "a LIMIT follows in the plan, so only part of the result was computed";
    }
    if (here.bar.empty() && CurrentName(op.name) == "Sort") {
      here.bar = "a stored result does not preserve the sort order";
    }
    stands_for[at] = {normal.size()};
    normal.push_back(std::move(here));
  }
  return normal;
}

}  // namespace tidemark::advise
