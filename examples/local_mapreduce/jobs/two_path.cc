// Lists paths of two edges in a graph by their middle node ([NF] 7.3, 2PathGenerator). The reduce
// function is quadratic.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "examples/local_mapreduce/jobs/text.h"
#include "examples/local_mapreduce/jobs/two_paths.h"

namespace tidemark::examples {
namespace {

constexpr std::size_t kNodeDigitsMax = 10;

char* PutNumber(char* at, std::uint32_t node) {
  return std::to_chars(at, at + kNodeDigitsMax, node).ptr;
}

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

void ReadNeighbours(Values& values, std::vector<std::uint32_t>& neighbours) {
  neighbours.clear();
  while (const auto value = values.Next()) neighbours.push_back(GetNode(*value));
  std::sort(neighbours.begin(), neighbours.end());
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
}

void WriteTwoPaths(std::uint32_t middle, const std::vector<std::uint32_t>& neighbours,
                   Directions directions, Output& output) {
  char start[2 * kNodeDigitsMax + 2];  // "middle<TAB>v "
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

JobDefinition TwoPathJob() {
  return {.name = "two-path",
          .description = "lists the paths of length two in a graph",
          .parameters = {{"directions", "1", "1 or 2; 2 lists each path from both of its ends"}},
          .rounds = {MakeTwoPath}};
}

}  // namespace tidemark::examples
