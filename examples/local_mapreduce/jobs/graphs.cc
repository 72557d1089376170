#include <algorithm>
#include <cereal/types/vector.hpp>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/input.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "examples/local_mapreduce/jobs/text.h"
#include "examples/local_mapreduce/saved.h"
#include "examples/local_mapreduce/sorted_records.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

constexpr std::size_t kNodeDigitsMax = 10;

char* PutNumber(char* at, std::uint32_t node) {
  return std::to_chars(at, at + kNodeDigitsMax, node).ptr;
}

// Reads the distinct nodes among the values, in ascending order.
void ReadNeighbours(Values& values, std::vector<std::uint32_t>& neighbours) {
  neighbours.clear();
  while (const auto value = values.Next()) neighbours.push_back(GetNode(*value));
  std::sort(neighbours.begin(), neighbours.end());
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
}

// Selects whether a path is listed once, from its lower end, or once from each end.
enum class Directions : std::uint8_t { kOne, kBoth };

// Writes (middle, "v w") for every v < w of the sorted neighbours, or for every v != w. Takes
// quadratic time.
void WriteTwoPaths(std::uint32_t middle, const std::vector<std::uint32_t>& neighbours,
                   Directions directions, Output& output) {
  char start[2 * kNodeDigitsMax + 2];  // contains "middle<TAB>v "
  char* const start_middle = PutNumber(start, middle);
  *start_middle = '\t';
  for (auto v = neighbours.begin(); v != neighbours.end() && output.ok(); ++v) {
    char* start_end = PutNumber(start_middle + 1, *v);
    *start_end++ = ' ';
    const auto start_size = static_cast<std::size_t>(start_end - start);
    for (auto w = directions == Directions::kOne ? v : neighbours.begin(); w != neighbours.end();
         ++w) {
      if (w == v) continue;
      char* at = output.Reserve(start_size + kNodeDigitsMax + 1);
      at = PutNumber(Output::Put(at, {start, start_size}), *w);
      *at++ = '\n';
      output.Commit(at);
    }
  }
}

// Lists paths of two edges in a graph by their middle node ([NF] 7.3, 2PathGenerator). The reduce
// function is quadratic.
class TwoPath : public Job {
 public:
  TwoPath(JobContext context, Directions directions)
      : Job(std::move(context)), directions_(directions) {}

  absl::Status Map(std::string_view line, const LineOrigin& /*origin*/, Emitter& emitter) override {
    if (IsSkipped(line)) return absl::OkStatus();
    const std::optional<Edge> edge = ParseEdge(line);
    if (!edge) return absl::InvalidArgumentError("an edge must be two numbers below 2^32");
    if (edge->first == edge->second) return absl::OkStatus();
    char from[4];
    char to[4];
    PutNode(edge->first, from);
    PutNode(edge->second, to);
    emitter.Emit({from, sizeof(from)}, {to, sizeof(to)});
    emitter.Emit({to, sizeof(to)}, {from, sizeof(from)});
    return absl::OkStatus();
  }

  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    ReadNeighbours(values, neighbours_);
    WriteTwoPaths(GetNode(key), neighbours_, directions_, output);
    return absl::OkStatus();
  }

 private:
  Directions directions_;
  std::vector<std::uint32_t> neighbours_;
};

absl::StatusOr<std::unique_ptr<Job>> MakeTwoPath(JobContext context) {
  absl::StatusOr<std::uint64_t> directions = WholeNumber(context, "directions", 1, 2);
  if (!directions.ok()) return directions.status();
  return std::make_unique<TwoPath>(std::move(context),
                                   *directions == 1 ? Directions::kOne : Directions::kBoth);
}

}  // namespace

JobDefinition TwoPathJob() {
  return {.name = "two-path",
          .description = "lists the paths of length two in a graph",
          .parameters = {{"directions", "1", "1 or 2; 2 lists each path from both of its ends"}},
          .rounds = {MakeTwoPath}};
}

// Lists each triangle of a graph once ([NF] 7.3, the NodeIterator algorithm in its degree-ordered
// form).
//
// Round 1: each edge belongs to its end of lower degree, which lists the 2-paths of its edges.
// Round 2: a 2-path v-u-w and the edge v-w meet at the key (v, w).

namespace {

constexpr std::string_view kEdgeMark = "$";

struct NodeDegree {
  std::uint32_t node = 0;
  std::uint32_t degree = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(node, degree);
  }
};

absl::Status NotAnEdge() {
  return absl::InvalidArgumentError("an edge must be two numbers below 2^32");
}

absl::StatusOr<std::vector<Edge>> ReadEdges(const std::vector<InputFile>& inputs) {
  std::vector<Edge> edges;
  for (const InputFile& input : inputs) {
    absl::StatusOr<Lines> lines = Lines::Open(input.path);
    if (!lines.ok()) return lines.status();
    while (lines->Next()) {
      if (IsSkipped(lines->line())) continue;
      const std::optional<Edge> edge = ParseEdge(lines->line());
      if (!edge) return AtLine(input, lines->offset(), NotAnEdge());
      if (edge->first != edge->second) {
        edges.push_back(std::minmax(edge->first, edge->second));
      }
    }
    if (!lines->status().ok()) return lines->status();
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// Returns the degrees of all nodes with edges, in node order.
std::vector<NodeDegree> CountDegrees(const std::vector<Edge>& edges) {
  std::vector<std::uint32_t> ends;
  for (const auto& [from, to] : edges) {
    ends.push_back(from);
    ends.push_back(to);
  }
  std::sort(ends.begin(), ends.end());
  std::vector<NodeDegree> degrees;
  for (const std::uint32_t node : ends) {
    if (degrees.empty() || degrees.back().node != node) degrees.push_back({.node = node});
    ++degrees.back().degree;
  }
  return degrees;
}

class OrderedTwoPaths : public Job {
 public:
  using Job::Job;

  absl::Status Prepare(std::vector<InputFile>& inputs) override {
    absl::StatusOr<std::vector<Edge>> edges = ReadEdges(inputs);
    if (!edges.ok()) return edges.status();
    return Save(DegreesPath(), CountDegrees(*edges));
  }

  absl::Status SetUp() override {
    absl::StatusOr<std::vector<NodeDegree>> degrees = Load<std::vector<NodeDegree>>(DegreesPath());
    if (degrees.ok()) degrees_ = *std::move(degrees);
    return degrees.status();
  }

  absl::Status Map(std::string_view line, const LineOrigin& /*origin*/, Emitter& emitter) override {
    if (IsSkipped(line)) return absl::OkStatus();
    const std::optional<Edge> edge = ParseEdge(line);
    if (!edge) return NotAnEdge();
    auto [low, high] = *edge;
    if (low == high) return absl::OkStatus();
    if (std::pair(DegreeOf(high), high) < std::pair(DegreeOf(low), low)) std::swap(low, high);
    char key[4];
    char value[4];
    emitter.Emit(PutNode(low, key), PutNode(high, value));
    return absl::OkStatus();
  }

  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    ReadNeighbours(values, neighbours_);
    WriteTwoPaths(GetNode(key), neighbours_, Directions::kOne, output);
    return absl::OkStatus();
  }

 private:
  std::string DegreesPath() const { return PathOf(context().side_directory, "degrees"); }
  std::uint32_t DegreeOf(std::uint32_t node) const {
    const auto found = std::lower_bound(
        degrees_.begin(), degrees_.end(), node,
        [](const NodeDegree& degree, std::uint32_t wanted) { return degree.node < wanted; });
    return found != degrees_.end() && found->node == node ? found->degree : 0;
  }

  std::vector<NodeDegree> degrees_;
  std::vector<std::uint32_t> neighbours_;
};

class ClosedTwoPaths : public Job {
 public:
  using Job::Job;

  absl::Status Map(std::string_view line, const LineOrigin& origin, Emitter& emitter) override {
    if (IsSkipped(line)) return absl::OkStatus();
    char middle[4];
    std::string_view value = kEdgeMark;
    if (context().inputs[origin.input].from_previous_round) {
      const std::optional<std::uint32_t> node = ParseNode(NextField(line));
      if (!node) return NotAnEdge();
      value = PutNode(*node, middle);
    }
    const std::optional<Edge> ends = ParseEdge(line);
    if (!ends) return NotAnEdge();
    if (ends->first == ends->second) return absl::OkStatus();
    const auto [v, w] = std::minmax(ends->first, ends->second);
    char key[8];
    PutPair(v, w, key);
    emitter.Emit({key, sizeof(key)}, value);
    return absl::OkStatus();
  }

  absl::Status Reduce(std::string_view /*key*/, Values& values, Output& output) override {
    bool is_edge = false;
    common_neighbours_.clear();
    while (const auto value = values.Next()) {
      if (*value == kEdgeMark) {
        is_edge = true;
      } else {
        common_neighbours_.push_back(GetNode(*value));
      }
    }
    if (!is_edge) return absl::OkStatus();
    for (const std::uint32_t neighbour : common_neighbours_) {
      const fmt::format_int node(neighbour);
      output.Write({node.data(), node.size()}, "1");
    }
    return absl::OkStatus();
  }

 private:
  static void PutPair(std::uint32_t v, std::uint32_t w, char (&bytes)[8]) {
    char node[4];
    char* const at = Output::Put(bytes, PutNode(v, node));
    Output::Put(at, PutNode(w, node));
  }

  std::vector<std::uint32_t> common_neighbours_;
};

}  // namespace

JobDefinition TriangleCountJob() {
  return {.name = "triangle-count",
          .description = "counts each triangle of a graph once",
          .rounds = {MakeJob<OrderedTwoPaths>, MakeJob<ClosedTwoPaths>}};
}

}  // namespace tidemark::examples
