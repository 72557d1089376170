#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "examples/local_mapreduce/jobs/text.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

std::uint64_t Sum(Values& values) {
  std::uint64_t sum = 0;
  while (const auto value = values.Next()) {
    std::uint64_t count = 0;
    std::from_chars(value->data(), value->data() + value->size(), count);
    sum += count;
  }
  return sum;
}

// Counts words ([NF] 7.3) with a linear reduce function, with and without a combiner.
class WordCount : public Job {
 public:
  using Job::Job;
  absl::Status Map(std::string_view line, const LineOrigin& /*origin*/, Emitter& emitter) override {
    while (NextWord(line, word_)) emitter.Emit(word_, "1");
    return absl::OkStatus();
  }
  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    const fmt::format_int sum(Sum(values));
    output.Write(key, {sum.data(), sum.size()});
    return absl::OkStatus();
  }

 private:
  std::string word_;
};

class WordCountWithCombiner : public WordCount {
 public:
  using WordCount::WordCount;
  bool has_combiner() const override { return true; }
  absl::Status Combine(Values& values, std::string& combined) override {
    const fmt::format_int sum(Sum(values));
    combined.assign(sum.data(), sum.size());
    return absl::OkStatus();
  }
};

}  // namespace

JobDefinition WordCountJob() {
  return {.name = "word-count",
          .description = "counts words, with a combiner",
          .rounds = {MakeJob<WordCountWithCombiner>}};
}

JobDefinition WordCountWithoutCombinerJob() {
  return {.name = "word-count-nc",
          .description = "counts words, without a combiner",
          .rounds = {MakeJob<WordCount>}};
}

namespace {

// Lists the documents of each word ([NF] 7.3). The reduce function searches a list for duplicates,
// as the original does, and is therefore quadratic.
class InvertedIndex : public Job {
 public:
  // With `document_count`, the input is divided into that many documents of about equal size.
  // Otherwise, each file is a document.
  InvertedIndex(JobContext context, std::uint64_t document_count)
      : Job(std::move(context)), document_count_(document_count) {}

  absl::Status Map(std::string_view line, const LineOrigin& origin, Emitter& emitter) override {
    const std::string document = DocumentOf(origin);
    while (NextWord(line, word_)) emitter.Emit(word_, document);
    return absl::OkStatus();
  }

  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    std::vector<std::string> documents;
    while (const auto value = values.Next()) {
      if (std::find(documents.begin(), documents.end(), *value) != documents.end()) continue;
      documents.emplace_back(*value);
      output.Write(key, *value);
    }
    return absl::OkStatus();
  }

 private:
  // Depends only on the position of the line, so the splits do not matter.
  std::string DocumentOf(const LineOrigin& origin) const {
    const std::vector<InputFile>& inputs = context().inputs;
    if (document_count_ == 0) return inputs[origin.input].name;
    double total_bytes = 0;
    double bytes_before = static_cast<double>(origin.offset);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      total_bytes += static_cast<double>(inputs[i].size_bytes);
      if (i < origin.input) bytes_before += static_cast<double>(inputs[i].size_bytes);
    }
    const double share = bytes_before / total_bytes;
    return fmt::format("doc{:05}",
                       static_cast<std::uint64_t>(share * static_cast<double>(document_count_)));
  }

  std::uint64_t document_count_;
  std::string word_;
};

absl::StatusOr<std::unique_ptr<Job>> MakeInvertedIndex(JobContext context) {
  absl::StatusOr<std::uint64_t> documents = WholeNumber(context, "documents", 0, 10'000'000);
  if (!documents.ok()) return documents.status();
  return std::make_unique<InvertedIndex>(std::move(context), *documents);
}

}  // namespace

JobDefinition InvertedIndexJob() {
  return {
      .name = "inverted-index",
      .description = "lists the documents that contain each word",
      .parameters = {{"documents", "0", "number of documents in the input; 0 for one per file"}},
      .rounds = {MakeInvertedIndex}};
}

}  // namespace tidemark::examples
