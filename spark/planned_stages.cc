#include "spark/planned_stages.h"

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "spark/json_fields.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;

constexpr int kNodesMax = 10'000;

// What is below is run for another operator, or was when it was cached.
bool HasItsOutput(const std::string& name) {
  return absl::StartsWith(name, "Reused") || absl::StartsWith(name, "InMemoryTableScan") ||
         absl::StartsWith(name, "Scan In-memory");
}

class PlannedStages {
 public:
  std::vector<std::uint32_t> Of(const json& plan) {
    Visit(plan);
    const bool is_whole = nodes_ <= kNodesMax && task_counts_.size() <= kPlannedStagesMax;
    return is_adaptive_ && is_whole ? task_counts_ : std::vector<std::uint32_t>();
  }

 private:
  // Whether what is above `node`, up to the end of its stage, reads a single partition.
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
    // Plug-ins for other processors have exchanges of their own, such as GpuColumnarExchange.
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

}  // namespace

std::vector<std::uint32_t> PlannedTaskCounts(const json& plan) { return PlannedStages().Of(plan); }

}  // namespace tidemark::spark
