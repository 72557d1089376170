#include "master/forecast/durations/parameters.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tidemark::gray_box {
namespace {

bool ParseNumber(const std::string& text, double& number) {
  return absl::SimpleAtod(text, &number) && std::isfinite(number);
}

std::set<std::string> WordsIn(const std::string& text) {
  std::set<std::string> words;
  for (absl::string_view word : absl::StrSplit(text, ',')) {
    word = absl::StripAsciiWhitespace(word);
    if (!word.empty()) words.emplace(word);
  }
  return words;
}

std::vector<std::string> MostFrequent(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::pair<std::size_t, std::string>> by_count;
  for (const auto& [word, count] : counts) by_count.emplace_back(count, word);
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (by_count.size() > kWordsMax) by_count.resize(kWordsMax);
  std::vector<std::string> words;
  for (auto& [count, word] : by_count) words.push_back(std::move(word));
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

Features::Features(std::span<const Parameters> runs) {
  std::map<std::string, std::map<std::string, std::size_t>> words;
  for (const Parameters& run : runs) {
    for (const auto& [name, value] : run) {
      double number = 0;
      const bool is_number = ParseNumber(value, number);
      const auto [place, is_new] = parameters_.try_emplace(name, Parameter{.is_number = is_number});
      place->second.is_number = place->second.is_number && is_number;
      place->second.last = value;
      for (const std::string& word : WordsIn(value)) ++words[name][word];
    }
  }
  for (auto& [name, parameter] : parameters_) {
    if (parameter.is_number) {
      names_.push_back(name);
      continue;
    }
    parameter.words = MostFrequent(words[name]);
    names_.push_back(absl::StrCat(name, ".count"));
    for (const std::string& word : parameter.words) names_.push_back(absl::StrCat(name, ".", word));
  }
}

std::vector<std::string> Features::Told() const {
  std::vector<std::string> told;
  for (const auto& [name, parameter] : parameters_) told.push_back(name);
  return told;
}

std::vector<double> Features::ValuesOf(const Parameters& parameters) const {
  std::vector<double> values;
  for (const auto& [name, parameter] : parameters_) {
    const auto said = parameters.find(name);
    const std::string& value = said == parameters.end() ? parameter.last : said->second;
    if (parameter.is_number) {
      double number = 0;
      if (!ParseNumber(value, number)) ParseNumber(parameter.last, number);
      values.push_back(number);
      continue;
    }
    const std::set<std::string> words = WordsIn(value);
    values.push_back(static_cast<double>(words.size()));
    for (const std::string& word : parameter.words) values.push_back(words.count(word) > 0 ? 1 : 0);
  }
  return values;
}

std::vector<std::string> Features::Unknown(const Parameters& parameters) const {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : parameters) {
    const auto known = parameters_.find(name);
    double number = 0;
    if (known == parameters_.end() || (known->second.is_number && !ParseNumber(value, number))) {
      unknown.push_back(name);
    } else if (!known->second.is_number) {
      const std::vector<std::string>& words = known->second.words;
      for (const std::string& word : WordsIn(value)) {
        if (!std::binary_search(words.begin(), words.end(), word)) {
          unknown.push_back(absl::StrCat(name, ".", word));
        }
      }
    }
  }
  return unknown;
}

std::vector<std::string> Features::NoNumbers(const Parameters& parameters) const {
  std::vector<std::string> wrong;
  for (const auto& [name, value] : parameters) {
    const auto known = parameters_.find(name);
    double number = 0;
    if (known == parameters_.end() || !known->second.is_number) continue;
    if (!ParseNumber(value, number)) wrong.push_back(name);
  }
  return wrong;
}

}  // namespace tidemark::gray_box
