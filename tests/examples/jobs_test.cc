// Runs every example job on real data. The output in the part files must equal an independent
// computation, and all snapshots of the run must be valid.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "expected.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runs.h"

namespace tidemark::examples::jobs_test {
namespace {

using ::testing::Eq;
using ::testing::SizeIs;

class JobTest : public RunTest {
 protected:
  // Returns the records of all part files, which are lines "key<TAB>value".
  std::vector<std::string> Run(RunOptions options) {
    Snapshot last;
    options.on_snapshot = [&last](const Snapshot& snapshot) {
      EXPECT_GE(snapshot.estimate.fraction_done, 0);
      EXPECT_TRUE(snapshot.is_final || snapshot.estimate.fraction_done < 1);
      last = snapshot;
    };
    std::string asked_at;
    options.on_success = [&](const std::string& master_address) {
      EXPECT_TRUE(last.is_final);
      asked_at = master_address;
    };
    absl::StatusOr<RunSummary> summary = RunJob(options);
    EXPECT_TRUE(summary.ok()) << summary.status();
    if (!summary.ok()) return {};
    EXPECT_EQ(last.state, JobState::kSucceeded);
    EXPECT_NE(asked_at, "");
    EXPECT_EQ(last.estimate.fraction_done, 1);
    EXPECT_EQ(summary->failed_attempts, 0);
    summary_ = *summary;
    std::vector<std::string> records;
    for (const auto& part : std::filesystem::directory_iterator(options.output_dir)) {
      for (std::string& line : LinesOf(ReadText(part.path()))) records.push_back(std::move(line));
    }
    EXPECT_EQ(records.size(), summary_.reduce_output_records);
    return records;
  }
  const RunSummary& summary() const { return summary_; }

 private:
  RunSummary summary_;
};

// Writes the first lines of a graph to a file of the test. A small graph is quick even with a
// sanitizer.
std::string PartOf(const std::string& graph, std::size_t lines_max, const std::string& path) {
  std::vector<std::string> lines = LinesOf(ReadText(graph));
  lines.resize(std::min(lines.size(), lines_max));
  std::ofstream file(path);
  for (const std::string& line : lines) file << line << "\n";
  return path;
}

std::string KeyOf(const std::string& record) { return record.substr(0, record.find('\t')); }
std::string ValueOf(const std::string& record) { return record.substr(record.find('\t') + 1); }

std::map<std::string, std::uint64_t> Counts(const std::vector<std::string>& records) {
  std::map<std::string, std::uint64_t> counts;
  for (const std::string& record : records) counts[KeyOf(record)] += std::stoull(ValueOf(record));
  return counts;
}

const std::vector<std::string>& Books() {
  static const std::vector<std::string> books = {Data("text/hamlet.txt.zst"),
                                                 Data("text/utopia.txt.zst"),
                                                 Data("text/the-invisible-man.txt.zst")};
  return books;
}

std::map<std::string, std::uint64_t> WordsOfBooks() {
  std::map<std::string, std::uint64_t> counts;
  for (const std::string& book : Books()) {
    for (const std::string& word : WordsOf(ReadText(book))) ++counts[word];
  }
  return counts;
}

TEST_F(JobTest, WordCountCountsEveryWord) {
  EXPECT_EQ(Counts(Run(Options("word-count", Books()))), WordsOfBooks());
}

TEST_F(JobTest, WordCountWithoutCombinerCountsTheSameFromMoreRecords) {
  const auto words = WordsOfBooks();
  EXPECT_EQ(Counts(Run(Options("word-count-nc", Books()))), words);
  std::uint64_t total = 0;
  for (const auto& [word, count] : words) total += count;
  EXPECT_EQ(summary().map_output_records, total);
  EXPECT_EQ(summary().reduce_input_groups, words.size());
}

TEST_F(JobTest, InvertedIndexListsEachBookOnceForEachOfItsWords) {
  std::multiset<std::string> expected;
  for (const std::string& book : Books()) {
    const std::vector<std::string> words = WordsOf(ReadText(book));
    for (const std::string& word : std::set<std::string>(words.begin(), words.end())) {
      expected.insert(word + "\t" + std::filesystem::path(book).stem().string());
    }
  }
  const std::vector<std::string> records = Run(Options("inverted-index", Books()));
  EXPECT_TRUE(std::multiset<std::string>(records.begin(), records.end()) == expected);
}

TEST_F(JobTest, TwoPathListsEveryPathOnce) {
  const std::string path =
      PartOf(Data("graphs/facebook-combined.txt.zst"), 20'000, Path("graph.txt"));
  const Graph graph = ReadGraph(path);
  RunOptions options = Options("two-path", {path});
  options.output = OutputKind::kDeflate;
  const std::vector<std::string> records = Run(options);
  ASSERT_THAT(records, SizeIs(CountTwoPaths(graph)));
  std::map<std::uint32_t, std::uint64_t> paths;
  std::uint64_t wrong = 0;
  for (const std::string& record : records) {
    const auto middle = static_cast<std::uint32_t>(std::stoul(record));
    const std::string ends = ValueOf(record);
    const auto from = static_cast<std::uint32_t>(std::stoul(ends));
    const auto to = static_cast<std::uint32_t>(std::stoul(ends.substr(ends.find(' '))));
    const std::set<std::uint32_t>& neighbours = graph.at(middle);
    // The ends are ordered, so no path also appears in the opposite direction.
    if (from >= to || !neighbours.contains(from) || !neighbours.contains(to)) ++wrong;
    ++paths[middle];
  }
  EXPECT_EQ(wrong, 0);
  for (const auto& [middle, neighbours] : graph) {
    const std::uint64_t degree = neighbours.size();
    if (degree > 1) {
      EXPECT_EQ(paths[middle], degree * (degree - 1) / 2) << "node " << middle;
    }
  }
}

TEST_F(JobTest, TwoPathInBothDirectionsListsTwiceAsMany) {
  const std::string path = Data("graphs/wiki-vote.txt.zst");
  RunOptions options = Options("two-path", {path});
  options.parameters["directions"] = "2";
  options.output = OutputKind::kCount;
  absl::StatusOr<RunSummary> summary = RunJob(options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->reduce_output_records, 2 * CountTwoPaths(ReadGraph(path)));
  EXPECT_EQ(summary->reduce_input_groups, ReadGraph(path).size());
}

TEST_F(JobTest, TriangleCountFindsEachTriangleOnce) {
  const std::string path = Data("graphs/wiki-vote.txt.zst");
  RunOptions options = Options("triangle-count", {path});
  std::uint64_t found = 0;
  for (const auto& [node, count] : Counts(Run(options))) found += count;
  EXPECT_EQ(found, 608'389u) << "as published with the data set";
  EXPECT_EQ(found, CountTriangles(ReadGraph(path)));
}

TEST_F(JobTest, NaturalJoinPairsEveryLineOfBothWithOneKey) {
  const std::string votes = PartOf(Data("graphs/wiki-vote.txt.zst"), 5'000, Path("votes.txt"));
  std::map<std::string, std::vector<std::string>> by_voter;
  for (const std::string& line : LinesOf(ReadText(votes))) {
    if (line[0] != '#') by_voter[KeyOf(line)].push_back(ValueOf(line));
  }
  std::uint64_t pairs = 0;
  for (const auto& [voter, candidates] : by_voter) pairs += candidates.size() * candidates.size();
  const std::vector<std::string> records = Run(Options("natural-join", {votes, votes}));
  ASSERT_THAT(records, SizeIs(pairs));
  std::map<std::string, std::uint64_t> tuples;
  for (const std::string& record : records) ++tuples[record];
  std::uint64_t wrong = 0;
  for (const auto& [voter, candidates] : by_voter) {
    for (const std::string& r : candidates) {
      for (const std::string& s : candidates) {
        if (tuples[fmt::format("{}\t{} {}", voter, r, s)] != 1) ++wrong;
      }
    }
  }
  EXPECT_EQ(wrong, 0);
}

class MatMultTest : public JobTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(MatMultTest, AddsUpToTheSquareOfTheMatrix) {
  const std::string path = Data("graphs/facebook-combined.txt.zst");
  RunOptions options = Options(GetParam(), {path});
  Matrix product;
  for (const std::string& record : Run(options)) {
    const std::string place = KeyOf(record);
    product[{std::stoul(place), std::stoul(place.substr(place.find(' ')))}] +=
        std::stod(ValueOf(record));
  }
  const Matrix matrix = ReadMatrix(path);
  EXPECT_TRUE(product == Product(matrix, matrix));  // Sums of ones are exact.
}

INSTANTIATE_TEST_SUITE_P(Partitioners, MatMultTest,
                         ::testing::Values("matmult-opt", "matmult-rnd", "matmult-unbal"),
                         [](const auto& test) { return test.param.substr(8); });

TEST_F(JobTest, SyntheticHasTheGroupsOfItsSigma) {
  RunOptions options = Options("synthetic", {});
  options.parameters = {{"sigma", "2"}, {"complexity", "2"}, {"n", "1000"}};
  std::map<std::uint64_t, std::uint64_t> groups_of_size;
  for (const std::string& record : Run(options)) ++groups_of_size[std::stoull(ValueOf(record))];
  // Sizes are 1000 / 2^i, with halves rounded away from zero. There are 2^i groups of each size.
  const std::map<std::uint64_t, std::uint64_t> expected = {{1000, 1}, {500, 2}, {250, 4}, {125, 8},
                                                           {63, 16},  {31, 32}, {16, 64}, {8, 128},
                                                           {4, 256},  {2, 512}};
  EXPECT_THAT(groups_of_size, Eq(expected));
}

TEST_F(JobTest, OutputDoesNotDependOnTheSplits) {
  std::set<std::uint64_t> checksums;
  for (const std::uint32_t maps : {1U, 7U}) {
    for (const std::uint32_t slots : {1U, 3U}) {
      RunOptions options = Options("word-count", Books());
      options.map_task_count = maps;
      options.slots = slots;
      options.output_dir = Path(fmt::format("out-{}-{}", maps, slots));
      absl::StatusOr<RunSummary> summary = RunJob(options);
      ASSERT_TRUE(summary.ok()) << summary.status();
      checksums.insert(summary->reduce_output_checksum);
    }
  }
  EXPECT_THAT(checksums, SizeIs(1));
}

TEST_F(JobTest, OutputDoesNotDependOnTheAgent) {
  std::set<std::uint64_t> checksums;
  for (const bool watched : {true, false}) {
    RunOptions options = Options("inverted-index", Books());
    options.agent_enabled = watched;
    options.output_dir = Path(watched ? "watched" : "unwatched");
    absl::StatusOr<RunSummary> summary = RunJob(options);
    ASSERT_TRUE(summary.ok()) << summary.status();
    checksums.insert(summary->reduce_output_checksum);
  }
  EXPECT_THAT(checksums, SizeIs(1));
}

}  // namespace
}  // namespace tidemark::examples::jobs_test
