// Computes the expected output of the example jobs in the simplest way, without code of the engine.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::examples {

// Returns the whole file, decompressed if its name ends with .zst or .deflate.
std::string ReadText(const std::string& path);
std::vector<std::string> LinesOf(const std::string& text);

// Returns the words, which consist of ASCII letters and digits, in lower case.
std::vector<std::string> WordsOf(const std::string& text);

using Graph = std::map<std::uint32_t, std::set<std::uint32_t>>;  // a simple, undirected graph
Graph ReadGraph(const std::string& path);
std::uint64_t CountTwoPaths(const Graph& graph);
std::uint64_t CountTriangles(const Graph& graph);

using Matrix = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;
Matrix ReadMatrix(const std::string& path);
Matrix Product(const Matrix& left, const Matrix& right);

}  // namespace tidemark::examples
