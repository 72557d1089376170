// What the example jobs must put out, computed in the plainest way there is and without any of the
// runner's code.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::examples {

// The whole file, decompressed when it ends in .zst or .deflate.
std::string ReadText(const std::string& path);
std::vector<std::string> LinesOf(const std::string& text);

// Runs of ASCII letters and digits, in lower case.
std::vector<std::string> WordsOf(const std::string& text);

using Graph = std::map<std::uint32_t, std::set<std::uint32_t>>;  // simple and undirected
Graph ReadGraph(const std::string& path);
std::uint64_t CountTwoPaths(const Graph& graph);
std::uint64_t CountTriangles(const Graph& graph);

using Matrix = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;
Matrix ReadMatrix(const std::string& path);
Matrix Product(const Matrix& left, const Matrix& right);

}  // namespace tidemark::examples
