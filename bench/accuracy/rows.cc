#include "bench/accuracy/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "bench/accuracy/maps.h"
#include "bench/accuracy/scenario.h"

namespace tidemark::bench {
namespace {

constexpr char kPaper[] = "paper";
constexpr char kSynthetic[] = "synthetic";
constexpr char kStress[] = "stress";
constexpr char kLive[] = "live";
constexpr char kMap[] = "map";
constexpr char kLambda[] = "lambda";

Row MakeRow(const std::string& job, const std::string& data) {
  Row row = {.job = job, .data = data, .data_set = data};
  // Selects the side of a block in the generated matrices.
  if (row.job.starts_with("matmult")) row.parameters["block"] = fmt::format("{}", kBlockSide);
  return row;
}

// Returns a row with the same books, but split into more documents than files.
Row BooksInPieces() {
  Row row = MakeRow("inverted-index", "books-in-pieces");
  row.data_set = "books";
  row.parameters["documents"] = "1500";
  return row;
}

// Returns the rows of [NF] Table 2.
std::vector<Row> PaperRows() {
  std::vector<Row> rows = {MakeRow("word-count", "books"), MakeRow("word-count-nc", "books"),
                           MakeRow("inverted-index", "books"), BooksInPieces()};
  for (const char* job : {"two-path", "triangle-count"}) {
    for (const char* graph : {"cnr-2000", "ego-twitter", "gowalla-prefix", "musae-github",
                              "cit-hepph", "email-enron"}) {
      rows.push_back(MakeRow(job, graph));
    }
  }
  for (const char* relations :
       {"zipf-1.0", "zipf-1.5", "zipf-2.0", "zipf-2.0-1.0", "zipf-1.5-1.5"}) {
    rows.push_back(MakeRow("natural-join", relations));
  }
  for (const char* job : {"matmult-opt", "matmult-rnd", "matmult-unbal"}) {
    for (const char* matrices : {"blocks-skewed", "blocks-uniform"}) {
      rows.push_back(MakeRow(job, matrices));
    }
  }
  return rows;
}

// Returns the rows of [NF] Figure 12 and, with the indicator "fit", the rows of Figure 13.
std::vector<Row> LambdaRows() {
  std::vector<Row> rows;
  for (const char* job : {"two-path", "triangle-count"}) {
    for (const std::uint32_t lambda : {125, 500, 2'000, 8'000, 32'000}) {
      rows.push_back(MakeRow(job, "email-enron"));
      rows.back().lambda = lambda;
    }
  }
  return rows;
}

// Returns the rows of [NF] 7.2 and Figure 6. The largest group takes a few seconds to measure.
std::vector<Row> SyntheticRows() {
  constexpr std::pair<int, int> kLargest[] = {{1, 50'000}, {2, 15'000}, {3, 800}, {4, 160}};
  std::vector<Row> rows;
  for (const std::uint32_t tasks : {1, 8}) {
    for (const auto& [complexity, largest] : kLargest) {
      for (const char* sigma : {"1.05", "1.2", "1.4", "1.6", "1.8"}) {
        Row row = {.job = "synthetic",
                   .data = fmt::format("n^{}-{}", complexity, sigma),
                   .data_set = kNoData,
                   .workers = tasks + 1};
        row.parameters = {{"complexity", fmt::format("{}", complexity)},
                          {"sigma", sigma},
                          {"n", fmt::format("{}", largest)}};
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

std::vector<Row> StressRows() {
  std::vector<Row> rows;
  for (const Scenario& scenario : AllScenarios()) {
    for (Row row : {MakeRow("two-path", "email-enron"), MakeRow("word-count-nc", "books"),
                    MakeRow("natural-join", "zipf-2.0-1.0")}) {
      row.scenario = scenario.name;
      if (scenario.slots > 0) row.workers = scenario.slots + 1;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Row BothDirections(const std::string& graph) {
  Row row = MakeRow("two-path", graph);
  row.parameters["directions"] = "2";
  return row;
}

// Returns live rows, half of them skewed. Each takes ten seconds to two minutes.
std::vector<Row> LiveRows() {
  Row synthetic = MakeRow("synthetic", "n^2-1.4");
  synthetic.data_set = kNoData;
  synthetic.parameters = {{"complexity", "2"}, {"sigma", "1.4"}, {"n", "70000"}};
  std::vector<Row> rows = {BothDirections("musae-github"),
                           BothDirections("email-enron"),
                           BothDirections("cit-hepph"),
                           MakeRow("triangle-count", "cnr-2000"),
                           MakeRow("word-count-nc", "books"),
                           MakeRow("inverted-index", "books"),
                           MakeRow("two-path", "mit8"),
                           MakeRow("matmult-unbal", "blocks-skewed"),
                           MakeRow("matmult-rnd", "blocks-uniform"),
                           std::move(synthetic)};
  constexpr std::uint32_t kSlots = 2;
  for (Row& row : rows) {
    row.is_live = true;
    row.workers = kSlots + 1;
    row.waves = 2;
  }
  return rows;
}

// Returns jobs of a Rumen trace with at least ten map tasks, on so many slots that there are about
// ten waves. Adds variants of the jobs whose bytes are known.
std::vector<Row> MapRows() {
  constexpr char kCluster[] = "rumen/19-jobs.trace";
  const auto make = [](const std::string& job, const char* trace, std::uint32_t slots) {
    Row row = {.job = "map", .data = job, .data_set = trace};
    row.only_maps = true;
    row.workers = slots + 1;
    return row;
  };
  const std::vector<Row> sized = {make("job_200904211745_0004", kCluster, 10),
                                  make("job_200904211745_0008", kCluster, 100),
                                  make("job_200904211745_0020", kCluster, 20)};
  std::vector<Row> rows = {make("job_200904211745_0005", kCluster, 3),
                           make("job_200904211745_0006", kCluster, 4),
                           make("job_200904211745_0009", kCluster, 10),
                           make("job_200904211745_0011", kCluster, 50),
                           make("job_201102091609_0090", "rumen/trace_3m", 10),
                           make("job_201103030619_0062", "rumen/compression_case4_trace", 10)};
  for (const char* made :
       {"", kWholeFiles, kSkewedFiles, kSmallestFirst, kLargestFirst, kNoSizes}) {
    for (Row row : sized) {
      row.scenario = made;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Split SplitOf(const Row& row) {
  constexpr std::string_view kTrainData[] = {"musae-github", "cit-hepph", "email-enron"};
  constexpr std::string_view kTrainMaps[] = {"job_200904211745_0004", "job_200904211745_0006",
                                             "job_200904211745_0020"};
  const bool is_train = std::ranges::count(kTrainData, row.data_set) > 0 ||
                        std::ranges::count(kTrainMaps, row.data) > 0 || row.job == "natural-join" ||
                        row.data.starts_with("n^2") || row.data.starts_with("n^4");
  return is_train ? Split::kTrain : Split::kValid;
}

}  // namespace

const char* NameOf(Split split) { return split == Split::kTrain ? "train" : "valid"; }

std::string Row::name() const {
  std::string text = fmt::format("{} {} {}", job, data, workers);
  if (!only_maps) text += fmt::format("x{}", waves);
  if (!scenario.empty()) text += " " + scenario;
  if (lambda > 0) text += fmt::format(" lambda-{}", lambda);
  if (is_live) text += " live";
  return text;
}

std::vector<std::string> SuiteNames() {
  return {kPaper, kSynthetic, kStress, kLive, kMap, kLambda};
}

absl::StatusOr<std::vector<Row>> RowsOf(const std::string& suite) {
  std::vector<Row> rows;
  if (suite == kPaper) {
    rows = PaperRows();
  } else if (suite == kSynthetic) {
    rows = SyntheticRows();
  } else if (suite == kStress) {
    rows = StressRows();
  } else if (suite == kLive) {
    rows = LiveRows();
  } else if (suite == kMap) {
    rows = MapRows();
  } else if (suite == kLambda) {
    rows = LambdaRows();
  } else {
    return absl::InvalidArgumentError(
        fmt::format("no suite \"{}\"; there are {}", suite, fmt::join(SuiteNames(), ", ")));
  }
  for (Row& row : rows) {
    row.suite = suite;
    row.split = SplitOf(row);
  }
  return rows;
}

absl::StatusOr<JobInputs> InputsOf(const Row& row, const DataSets& data_sets) {
  absl::StatusOr<std::vector<std::string>> paths = data_sets.Find(row.data_set);
  if (!paths.ok()) return paths.status();
  return JobInputs{.job = row.job, .paths = *std::move(paths), .parameters = row.parameters};
}

}  // namespace tidemark::bench
