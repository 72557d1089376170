#include "spark/connector_parity.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "spark/event_scanner.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;

// --- failures ---------------------------------------------------------------------------------

constexpr std::string_view kTraceback = "Traceback (most recent call last):";
// "most recent failure: Lost task 0.3 in stage 1.0 (TID 7) (10.0.0.1 executor 2): CAUSE"
constexpr std::string_view kLastFailure = "most recent failure: Lost task ";
constexpr std::string_view kBeforeCause = "): ";

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// Returns the first line of a traceback that is not indented, or "" if the text ends before it.
std::string_view RaisedIn(std::string_view traceback) {
  for (std::size_t end = traceback.find('\n'); end != std::string_view::npos;
       end = traceback.find('\n')) {
    traceback.remove_prefix(end + 1);
    const std::string_view line = FirstLine(traceback);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos && line[0] != ' ' &&
        line[0] != '\t') {
      return line;
    }
  }
  return "";
}

std::string_view CauseIn(std::string_view failure) {
  if (const std::size_t at = failure.rfind(kTraceback); at != std::string_view::npos) {
    if (const std::string_view raised = RaisedIn(failure.substr(at)); !raised.empty()) {
      return raised;
    }
  }
  const std::size_t last = failure.find(kLastFailure);
  if (last == std::string_view::npos) return failure;
  const std::size_t before = failure.find(kBeforeCause, last);
  if (before == std::string_view::npos) return failure;
  const std::string_view cause = FirstLine(failure.substr(before + kBeforeCause.size()));
  return cause.empty() ? failure : cause;
}

// --- planned stages ---------------------------------------------------------------------------

// Maximum number of visited operators of a plan. Also bounds the depth of the recursion.
constexpr int kNodesMax = 10'000;

// Returns true if the inputs of operator `name` run in another operator, or ran when the result was
// cached.
bool HasItsOutput(const std::string& name) {
  return absl::StartsWith(name, "Reused") || absl::StartsWith(name, "InMemoryTableScan") ||
         absl::StartsWith(name, "Scan In-memory");
}

class PlannedStages {
 public:
  std::vector<std::uint32_t> Of(const json& plan) {
    const bool is_single = Visit(plan);
    // The last job of a plan that is not adaptive announces the stage of the result.
    if (!is_adaptive_ && !task_counts_.empty()) task_counts_.push_back(is_single ? 1 : 0);
    const bool is_whole = nodes_ <= kNodesMax && task_counts_.size() <= kPlannedStagesMax;
    return is_whole ? task_counts_ : std::vector<std::uint32_t>();
  }

 private:
  // Returns true if the operators between `node` and the end of its stage read a single partition.
  bool Visit(const json& node) {
    if (++nodes_ > kNodesMax) return false;
    const std::size_t before = task_counts_.size();
    const bool was_adaptive = is_adaptive_;
    bool is_single = false;
    if (const json& children = Member(node, "children"); children.is_array()) {
      for (const json& child : children) is_single |= Visit(child);
    }
    const std::string name = Text(node, "nodeName");
    if (absl::StartsWith(name, "AdaptiveSparkPlan")) {
      is_adaptive_ = true;
      task_counts_.push_back(is_single ? 1 : 0);
      return false;
    }
    if (HasItsOutput(name)) {
      task_counts_.resize(before);
      is_adaptive_ = was_adaptive;
      return is_single;
    }
    // Plug-ins have their own exchanges, such as GpuColumnarExchange.
    if (!absl::EndsWith(name, "Exchange")) return is_single;
    const std::string partitioning = absl::AsciiStrToLower(Text(node, "simpleString"));
    if (absl::StrContains(partitioning, "rangepartitioning")) {
      task_counts_.push_back(is_single ? 1 : 0);
    }
    task_counts_.push_back(is_single ? 1 : 0);
    return absl::StrContains(partitioning, "singlepartition");
  }

  int nodes_ = 0;
  bool is_adaptive_ = false;
  std::vector<std::uint32_t> task_counts_;
};

// --- signatures -------------------------------------------------------------------------------

// Computes Java's String.hashCode() and length(), which count UTF-16 code units, from UTF-8 text.
class JavaString {
 public:
  void Add(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const auto first = static_cast<unsigned char>(text[at]);
      const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
      std::uint32_t character = size == 1 ? first : first & (0x7F >> size);
      for (std::size_t i = 1; i < size && at + i < text.size(); ++i) {
        character = character << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
      }
      at += size;
      if (character >= 0x10000) AddUnit(0xD7C0 + (character >> 10));
      AddUnit(character >= 0x10000 ? 0xDC00 + (character & 0x3FF) : character);
    }
  }
  std::uint32_t hash() const { return hash_; }
  std::uint64_t length() const { return length_; }

 private:
  void AddUnit(std::uint32_t unit) {
    hash_ = 31 * hash_ + unit;
    ++length_;
  }
  std::uint32_t hash_ = 0;
  std::uint64_t length_ = 0;
};

// Adds the names of the first `left` operators.
void AddNames(const json& node, int& left, JavaString& names) {
  if (--left < 0) return;
  names.Add(Text(node, "nodeName"));
  names.Add("(");
  if (const json& children = Member(node, "children"); children.is_array()) {
    for (const json& child : children) AddNames(child, left, names);
  }
  names.Add(")");
}

std::uint64_t HashOf(std::string_view text) { return XXH64(text.data(), text.size(), 0); }

}  // namespace

std::string FailureCause(std::string_view failure) {
  std::string_view cause = CauseIn(failure);
  if (cause.ends_with('\r')) cause.remove_suffix(1);
  return std::string(cause);
}

bool IsCancelledByItsQuery(std::string_view failure) {
  constexpr std::string_view kJob = "Job ";
  constexpr std::string_view kCancelled = " cancelled";
  if (!failure.starts_with(kJob)) return false;
  failure.remove_prefix(kJob.size());
  const std::size_t digits = failure.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  failure.remove_prefix(digits);
  if (!failure.starts_with(kCancelled)) return false;
  const std::string_view reason = FirstLine(failure.substr(kCancelled.size()));
  return reason.find_first_not_of(" .\r") == std::string_view::npos ||
         reason.find("query stage") != std::string_view::npos;
}

std::vector<std::uint32_t> PlannedTaskCounts(const json& plan) { return PlannedStages().Of(plan); }

std::string NameOfPlan(const json& plan) {
  JavaString names;
  int left = kNodesMax;
  AddNames(plan, left, names);
  return fmt::format("{:x}.{}", names.hash(), names.length());
}

std::uint64_t WorkOfStage(const json& info, bool is_of_sql) {
  std::vector<std::string> steps;
  if (const json& rdds = Member(info, "RDD Info"); rdds.is_array()) {
    for (const json& rdd : rdds) {
      const json scope = json::parse(Text(rdd, "Scope"), nullptr, /*allow_exceptions=*/false);
      steps.push_back(fmt::format("{} {}\n", Text(rdd, "Name"), Text(scope, "name")));
    }
  }
  std::sort(steps.begin(), steps.end());
  std::string work = (is_of_sql ? "" : Text(info, "Stage Name")) + "\n";
  for (const std::string& step : steps) work += step;
  return HashOf(work);
}

std::uint64_t RepeatedWork(std::string_view plan, std::uint64_t work) {
  return plan.empty() ? work : HashOf(fmt::format("{} {:016x}", plan, work));
}

std::string SignatureOf(std::string_view group, std::uint64_t work, std::uint32_t occurrence) {
  return fmt::format("{:016x}-{:016x}-{}", HashOf(group), work, occurrence);
}

}  // namespace tidemark::spark
