#include "spark/plan_hash.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace tidemark::spark {
namespace {

class Fnv1a {
 public:
  void Add(std::string_view text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  }
  void AddNode(const nlohmann::json& node) {
    if (!node.is_object()) return;
    if (const auto name = node.find("nodeName"); name != node.end() && name->is_string()) {
      Add(name->get_ref<const std::string&>());
    }
    const auto children = node.find("children");
    if (children == node.end() || !children->is_array() || children->empty()) return;
    std::string_view before = "(";
    for (const nlohmann::json& child : *children) {
      Add(before);
      AddNode(child);
      before = ",";
    }
    Add(")");
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace

std::uint64_t PlanHash(const nlohmann::json& plan) {
  if (!plan.is_object()) return 0;
  Fnv1a hash;
  hash.AddNode(plan);
  return hash.hash();
}

}  // namespace tidemark::spark
