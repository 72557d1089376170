#include "expected.h"

#include <zlib.h>
#include <zstd.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>
#include <unordered_map>

namespace tidemark::examples {
namespace {

std::string Unzstd(const std::string& packed) {
  std::string text(ZSTD_getFrameContentSize(packed.data(), packed.size()), '\0');
  text.resize(ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size()));
  return text;
}

std::string Inflate(const std::string& packed) {
  z_stream stream = {};
  inflateInit(&stream);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  std::string piece(1 << 20, '\0');
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, 0, piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return text;
}

// Returns the fields of a line, or none if the line is empty or a comment.
std::vector<double> NumbersOf(const std::string& line) {
  if (line.empty() || line[0] == '#') return {};
  std::istringstream stream(line);
  return {std::istream_iterator<double>(stream), {}};
}

}  // namespace

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (path.ends_with(".zst")) return Unzstd(bytes);
  if (path.ends_with(".deflate")) return Inflate(bytes);
  return bytes;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 128 && std::isalnum(byte) != 0) {
      words.back() += static_cast<char>(std::tolower(byte));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

Graph ReadGraph(const std::string& path) {
  Graph graph;
  for (const std::string& line : LinesOf(ReadText(path))) {
    const std::vector<double> ends = NumbersOf(line);
    if (ends.size() < 2 || ends[0] == ends[1]) continue;
    const auto from = static_cast<std::uint32_t>(ends[0]);
    const auto to = static_cast<std::uint32_t>(ends[1]);
    graph[from].insert(to);
    graph[to].insert(from);
  }
  return graph;
}

std::uint64_t CountTwoPaths(const Graph& graph) {
  std::uint64_t paths = 0;
  for (const auto& [middle, neighbours] : graph) {
    paths += neighbours.size() * (neighbours.size() - 1) / 2;
  }
  return paths;
}

std::uint64_t CountTriangles(const Graph& graph) {
  std::uint64_t corners = 0;
  for (const auto& [u, neighbours] : graph) {
    for (const std::uint32_t v : neighbours) {
      if (v <= u) continue;
      const std::set<std::uint32_t>& others = graph.at(v);
      for (auto w = neighbours.upper_bound(v); w != neighbours.end(); ++w) {
        corners += others.count(*w);
      }
    }
  }
  return corners;
}

Matrix ReadMatrix(const std::string& path) {
  Matrix matrix;
  for (const std::string& line : LinesOf(ReadText(path))) {
    const std::vector<double> entry = NumbersOf(line);
    if (entry.size() < 2) continue;
    matrix[{static_cast<std::uint32_t>(entry[0]), static_cast<std::uint32_t>(entry[1])}] +=
        entry.size() > 2 ? entry[2] : 1;
  }
  return matrix;
}

Matrix Product(const Matrix& left, const Matrix& right) {
  std::unordered_map<std::uint32_t, std::vector<std::pair<std::uint32_t, double>>> rows;
  for (const auto& [place, value] : right) rows[place.first].emplace_back(place.second, value);
  std::map<std::uint32_t, std::unordered_map<std::uint32_t, double>> sums;
  for (const auto& [place, value] : left) {
    for (const auto& [column, factor] : rows[place.second]) {
      sums[place.first][column] += value * factor;
    }
  }
  Matrix product;
  for (const auto& [row, columns] : sums) {
    for (const auto& [column, sum] : columns) product[{row, column}] = sum;
  }
  return product;
}

}  // namespace tidemark::examples
