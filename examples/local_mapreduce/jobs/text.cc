#include "examples/local_mapreduce/jobs/text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <system_error>

#include "absl/strings/ascii.h"

namespace tidemark::examples {
namespace {

template <typename T>
std::optional<T> ParseWhole(std::string_view field) {
  T number = 0;
  const char* const end = field.data() + field.size();
  const auto [at, error] = std::from_chars(field.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

bool IsWordByte(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

}  // namespace

bool NextWord(std::string_view& line, std::string& word) {
  std::size_t begin = 0;
  while (begin < line.size() && !IsWordByte(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && IsWordByte(line[end])) ++end;
  word.assign(line, begin, end - begin);
  for (char& c : word) c = absl::ascii_tolower(static_cast<unsigned char>(c));
  line.remove_prefix(end);
  return !word.empty();
}

std::string_view NextField(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view field = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(field.size());
  return field;
}

bool IsSkipped(std::string_view line) {
  const std::string_view field = NextField(line);
  return field.empty() || field.front() == '#';
}

std::optional<std::uint64_t> ParseNumber(std::string_view field) {
  return ParseWhole<std::uint64_t>(field);
}

std::optional<std::uint32_t> ParseNode(std::string_view field) {
  return ParseWhole<std::uint32_t>(field);
}

std::string_view PutNode(std::uint32_t node, char (&bytes)[4]) {
  static_assert(std::endian::native == std::endian::little);
  const std::uint32_t big_endian = __builtin_bswap32(node);
  std::memcpy(bytes, &big_endian, sizeof(bytes));
  return {bytes, sizeof(bytes)};
}

std::uint32_t GetNode(std::string_view bytes) {
  std::uint32_t big_endian = 0;
  std::memcpy(&big_endian, bytes.data(), sizeof(big_endian));
  return __builtin_bswap32(big_endian);
}

std::optional<Edge> ParseEdge(std::string_view line) {
  const std::optional<std::uint32_t> from = ParseNode(NextField(line));
  const std::optional<std::uint32_t> to = ParseNode(NextField(line));
  if (!from || !to) return std::nullopt;
  return Edge(*from, *to);
}

}  // namespace tidemark::examples
