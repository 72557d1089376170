// Parsers for lines of text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::examples {

// Removes the next word, which consists of ASCII letters and digits, from `line`. Stores the word
// in lower case. Returns false at the end.
bool NextWord(std::string_view& line, std::string& word);

// Removes and returns the next field, which ends at a space or tab. Returns an empty field at the
// end.
std::string_view NextField(std::string_view& line);

// Returns true for blank lines, and for comments, which begin with '#'.
bool IsSkipped(std::string_view line);

// Parses decimal digits. Returns nullopt for other text.
std::optional<std::uint64_t> ParseNumber(std::string_view field);
std::optional<std::uint32_t> ParseNode(std::string_view field);

// Returns a node number as four bytes, in big-endian order, so that the bytes sort like the number.
std::string_view PutNode(std::uint32_t node, char (&bytes)[4]);
std::uint32_t GetNode(std::string_view bytes);

// The two nodes of an edge of a graph, at most 2^32 - 1 each.
using Edge = std::pair<std::uint32_t, std::uint32_t>;
// Parses "u v", separated by spaces or tabs, and ignores further fields. Returns nullopt for other
// text.
std::optional<Edge> ParseEdge(std::string_view line);

}  // namespace tidemark::examples
