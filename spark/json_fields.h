// What an object of JSON says of one of its members, if that is of the right type.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

namespace tidemark::spark {

inline const nlohmann::json& Member(const nlohmann::json& object, const char* name) {
  static const nlohmann::json* const kNull = new nlohmann::json;
  if (!object.is_object()) return *kNull;
  const auto found = object.find(name);
  return found == object.end() ? *kNull : *found;
}

inline std::string Text(const nlohmann::json& object, const char* name) {
  const nlohmann::json& member = Member(object, name);
  return member.is_string() ? member.get<std::string>() : std::string();
}

// Empty: none, negative, or no whole number.
inline std::optional<std::uint64_t> Count(const nlohmann::json& object, const char* name) {
  const nlohmann::json& member = Member(object, name);
  if (!member.is_number_unsigned()) return std::nullopt;
  return member.get<std::uint64_t>();
}

// The same of what has to fit a number of a stage, a task or an attempt.
inline std::optional<std::uint32_t> Number(const nlohmann::json& object, const char* name) {
  const std::optional<std::uint64_t> count = Count(object, name);
  if (!count || *count > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*count);
}

// Of a property of Spark, all of which are text. Empty: no whole number.
inline std::optional<std::uint64_t> NumberIn(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

inline bool IsTrue(const nlohmann::json& object, const char* name) {
  const nlohmann::json& member = Member(object, name);
  return member.is_boolean() && member.get<bool>();
}

}  // namespace tidemark::spark
