// Reading the text lines that jobs map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::examples {

// Takes the next word, a run of ASCII letters and digits, off `line` into `word`, lower-cased.
bool NextWord(std::string_view& line, std::string& word);

// Takes the next field, ended by spaces and tabs, off `line`; empty: there is none.
std::string_view NextField(std::string_view& line);

// Blank, or a comment that begins with '#'.
bool IsSkipped(std::string_view line);

// Decimal digits and nothing else.
std::optional<std::uint64_t> ParseNumber(std::string_view field);
std::optional<std::uint32_t> ParseNode(std::string_view field);

// A node number as four bytes whose order is that of the numbers.
std::string_view PutNode(std::uint32_t node, char (&bytes)[4]);
std::uint32_t GetNode(std::string_view bytes);

// Two node numbers of a graph's edge. Each is at most 2^32 - 1.
using Edge = std::pair<std::uint32_t, std::uint32_t>;
// "u v", separated by spaces or tabs; more fields are ignored. None: not that.
std::optional<Edge> ParseEdge(std::string_view line);

}  // namespace tidemark::examples
