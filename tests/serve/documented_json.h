// Reads the examples of messages in docs/alerts.md.
#pragma once

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace tidemark::test {

// Returns the first JSON block below `heading`, or a discarded value without one.
inline nlohmann::json DocumentedJson(const std::string& heading) {
  std::ifstream stream(TIDEMARK_SOURCE_DIR "/docs/alerts.md");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  constexpr char kFence[] = "```json\n";
  const std::size_t fence = text.find(kFence, text.find("\n" + heading + "\n"));
  const std::size_t begin = fence == text.npos ? text.size() : fence + sizeof kFence - 1;
  const std::size_t end = text.find("```", begin);
  return nlohmann::json::parse(text.substr(begin, end == text.npos ? 0 : end - begin), nullptr,
                               /*allow_exceptions=*/false);
}

}  // namespace tidemark::test
