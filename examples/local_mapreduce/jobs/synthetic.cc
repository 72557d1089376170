// The synthetic benchmark of [NF] 7.2. It has about sigma^i key groups of n / sigma^i records for
// each i >= 0. Its reduce function takes n^complexity steps.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "examples/local_mapreduce/jobs/text.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

// The maximum number of records of one key group per line of input. Several map tasks therefore
// emit each large group, as in real data.
constexpr std::uint64_t kRecordsPerLine = 1000;

// Spreads adjacent numbers over all 64 bits, with the 64-bit finalizer of MurmurHash3.
std::uint64_t Scatter(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

// Returns a sum over all tuples of `depth` values, in any order. Takes values.size() ^ depth steps.
template <int depth>
std::uint64_t MixTuples(const std::vector<std::uint32_t>& values, std::uint64_t state) {
  std::uint64_t sum = 0;
  for (const std::uint32_t value : values) {
    const std::uint64_t mixed = (state ^ value) * 0x9e3779b97f4a7c15;
    if constexpr (depth == 1) {
      sum += mixed ^ (mixed >> 29);
    } else {
      sum += MixTuples<depth - 1>(values, mixed);
    }
  }
  return sum;
}

struct Shape {
  double sigma = 0;
  std::uint64_t complexity = 0;
  std::uint64_t largest = 0;  // records of the largest group
};

class Synthetic : public Job {
 public:
  Synthetic(JobContext context, const Shape& shape) : Job(std::move(context)), shape_(shape) {}

  // Writes the input as lines "KEY FIRST COUNT".
  absl::Status Prepare(std::vector<InputFile>& inputs) override {
    struct Line {
      // position in the input, which spreads the groups over the map tasks
      std::uint64_t place = 0;
      std::string text;
    };
    std::vector<Line> lines;
    double groups = 1;
    for (int level = 0;; ++level, groups *= shape_.sigma) {
      const double exact_size = static_cast<double>(shape_.largest) / groups;
      if (exact_size < 1) break;
      const auto size = static_cast<std::uint64_t>(std::llround(exact_size));
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(std::llround(groups)); ++i) {
        // The first number of a key makes the order of keys independent of their sizes.
        const auto mixed =
            static_cast<std::uint32_t>(Scatter((static_cast<std::uint64_t>(level + 1) << 32) + i));
        const std::string key = fmt::format("{:08x}-{:03}-{:07}", mixed, level, i);
        for (std::uint64_t first = 0; first < size; first += kRecordsPerLine) {
          const std::uint64_t count = std::min(kRecordsPerLine, size - first);
          lines.push_back({.place = Scatter(mixed + (first << 32)),
                           .text = fmt::format("{} {} {}\n", key, first, count)});
        }
      }
    }
    std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
      return std::tie(a.place, a.text) < std::tie(b.place, b.text);
    });
    InputFile input = {.path = PathOf(context().side_directory, "input"), .name = "generated"};
    absl::StatusOr<FileWriter> file = FileWriter::Create(input.path);
    if (!file.ok()) return file.status();
    for (const Line& line : lines) file->Append(line.text);
    input.size_bytes = file->size();
    inputs.push_back(std::move(input));
    return file->Close();
  }

  absl::Status Map(std::string_view line, const LineOrigin& /*origin*/, Emitter& emitter) override {
    const std::string_view key = NextField(line);
    const std::optional<std::uint32_t> first = ParseNode(NextField(line));
    const std::optional<std::uint32_t> count = ParseNode(NextField(line));
    if (!first || !count) return absl::DataLossError("not a line of the generated input");
    for (std::uint32_t i = *first; i < *first + *count; ++i) {
      char value[4];
      emitter.Emit(key, PutNode(static_cast<std::uint32_t>(Scatter(i)), value));
    }
    return absl::OkStatus();
  }

  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    numbers_.clear();
    while (const auto value = values.Next()) numbers_.push_back(GetNode(*value));
    output.Write(key, fmt::format("{} {:016x}", numbers_.size(), Mix()));
    return absl::OkStatus();
  }

 private:
  std::uint64_t Mix() const {
    switch (shape_.complexity) {
      case 1:
        return MixTuples<1>(numbers_, 1);
      case 2:
        return MixTuples<2>(numbers_, 1);
      case 3:
        return MixTuples<3>(numbers_, 1);
      default:
        return MixTuples<4>(numbers_, 1);
    }
  }

  Shape shape_;
  std::vector<std::uint32_t> numbers_;
};

absl::StatusOr<std::unique_ptr<Job>> MakeSynthetic(JobContext context) {
  absl::StatusOr<double> sigma = RealNumber(context, "sigma", 1.01, 1000);
  if (!sigma.ok()) return sigma.status();
  absl::StatusOr<std::uint64_t> complexity = WholeNumber(context, "complexity", 1, 4);
  if (!complexity.ok()) return complexity.status();
  absl::StatusOr<std::uint64_t> largest = WholeNumber(context, "n", 1, 10'000'000);
  if (!largest.ok()) return largest.status();
  const Shape shape = {.sigma = *sigma, .complexity = *complexity, .largest = *largest};
  return std::make_unique<Synthetic>(std::move(context), shape);
}

}  // namespace

JobDefinition SyntheticJob() {
  return {.name = "synthetic",
          .description = "runs a reduce function of chosen complexity on groups of chosen skew",
          .inputs_min = 0,
          .inputs_max = 0,
          .parameters = {{"sigma", "1.4", "skew: sigma^i groups have n / sigma^i records"},
                         {"complexity", "2",
                          "a group of n records takes n^complexity steps; from 1 to 4"},
                         {"n", "20000", "records in the largest group"}},
          .rounds = {MakeSynthetic}};
}

}  // namespace tidemark::examples
