#include "spark/signature.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "spark/json_fields.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;

// Of a plan; the rest does not count.
constexpr int kSignatureNodesMax = 10'000;

// Java's String.hashCode() and length(), which are of UTF-16. Of text that is UTF-8.
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

std::string NameOfPlan(const json& plan) {
  JavaString names;
  int left = kSignatureNodesMax;
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
